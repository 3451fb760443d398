/**
 * The kit for testing plugins, imported as `unified-model-gateway/plugin/testing`. docs/plugins.md shows how to use it.
 *
 * `describeProvider` is the conformance suite of a provider, `runTranslator` translates one upstream reply, `runLink` sends one call
 * through a chain plugin. All use a scripted upstream, which plays a script for each request: a list of steps, made of raw bytes or by
 * the builders below.
 */
export type { EndpointFixture, EndpointFixtures, FixedEndpoint } from './conformance/endpoint-fixtures.ts'
export type {
  Absent,
  ConfiguredCalls,
  Discovery,
  EmbeddingsFixture,
  ErrorFixture,
  Errors,
  MidStreamError,
  MoreCalls,
  ProviderUnderTest,
  ReplyFixture,
  RequestsFixture,
  Scenarios,
} from './conformance/provider-under-test.ts'
export { describeProvider } from './describe-provider.ts'
export { createProvider, testAttempt, testCall, testHost } from './gateway/doubles.ts'
export type { OtherEndpoint } from './gateway/endpoint-requests.ts'
export type { PluginConfig } from './gateway/plugin-gateway.ts'
export type { ClientError, ClientReply } from './link/client-reply.ts'
export { EVERY_CALL, type LinkCall, type LinkRun, runLink, type StartedLink, startLink } from './link/run-link.ts'
export { cutAtEveryByte, splitAtEveryByte } from './translator/every-byte.ts'
export { type Gathered, type GatheredChoice, type GatheredTool, gather } from './translator/gather.ts'
export {
  type Asked,
  runTranslator,
  type StreamedReply,
  type Translated,
  type TranslatedStream,
  type WholeReply,
} from './translator/run-translator.ts'
export type { Said, SaidTool } from './upstream/openai-reply.ts'
export { openaiReply } from './upstream/openai-reply.ts'
export {
  BOM,
  chunk,
  comment,
  cut,
  DONE,
  encoded,
  event,
  type Framing,
  type HeaderLines,
  head,
  html,
  json,
  lastChunk,
  pieces,
  RETRY_AFTER_FORMS,
  type ReplyOptions,
  reply,
  retryAfter,
  sse,
  withLineEnds,
} from './upstream/replies.ts'
export { type Bytes, FIN, type Hold, hold, RST, type Script, type Step } from './upstream/script.ts'
export {
  type ReceivedRequest,
  type RequestHandler,
  type ScriptedUpstream,
  type ScriptedUpstreamOptions,
  scriptedUpstream,
} from './upstream/scripted-upstream.ts'
