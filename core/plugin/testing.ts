/**
 * The kit for testing plugins, imported as `unified-model-gateway/plugin/testing`. docs/plugins.md shows it at work.
 *
 * `describeProvider` is the conformance suite of a provider, `runTranslator` what a client gets of one reply, `runLink` one call
 * through a chain plugin. Behind them stands a scripted upstream, which plays a script for each request: a list of steps, made of raw
 * bytes or by the builders below.
 */
export { describeProvider } from './testing/conformance/describe-provider.ts'
export type { ProviderUnderTest } from './testing/conformance/provider-under-test.ts'
export type {
  Absent,
  Discovery,
  EmbeddingsFixture,
  ErrorFixture,
  Errors,
  MidStreamError,
  ReplyFixture,
  Scenarios,
} from './testing/conformance/scenarios.ts'
export { createProvider } from './testing/create-provider.ts'
export { encoded, html, RETRY_AFTER_FORMS, retryAfter } from './testing/faults.ts'
export type { ClientError, ClientReply } from './testing/link/client-reply.ts'
export { type LinkBench, type LinkCall, type LinkRun, runLink, startLink } from './testing/link/run-link.ts'
export { openaiReply } from './testing/openai-reply.ts'
export { cut, pieces } from './testing/pieces.ts'
export { chunk, type Framing, type HeaderLines, head, json, lastChunk, type ReplyOptions, reply } from './testing/replies.ts'
export type { Said, SaidTool } from './testing/said.ts'
export { type Bytes, FIN, type Hold, hold, RST, type Script, type Step } from './testing/script.ts'
export {
  type ReceivedRequest,
  type RequestHandler,
  type ScriptedUpstream,
  type ScriptedUpstreamOptions,
  scriptedUpstream,
} from './testing/scripted-upstream.ts'
export type { PluginConfig } from './testing/secrets.ts'
export { BOM, comment, DONE, event, sse, withLineEnds } from './testing/sse.ts'
export { testAttempt, testCall } from './testing/test-call.ts'
export { testHost } from './testing/test-host.ts'
export { cutAtEveryByte, splitAtEveryByte } from './testing/translator/every-byte.ts'
export { type Gathered, type GatheredChoice, type GatheredTool, gather } from './testing/translator/gather.ts'
export {
  type Asked,
  runTranslator,
  type StreamedReply,
  type Translated,
  type TranslatedStream,
  type WholeReply,
} from './testing/translator/run-translator.ts'
