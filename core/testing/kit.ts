export type { ProviderUnderTest } from './conformance/describe-provider.ts'
/**
 * The kit for testing plugins, imported as `unified-model-gateway/plugin/testing`. docs/plugins.md shows it at work.
 *
 * `describeProvider` is the conformance suite of a provider, `runTranslator` what a client gets of one reply, `runLink` one call
 * through a chain plugin. Behind them stands a scripted upstream, which plays a script for each request: a list of steps, made of raw
 * bytes or by the builders below.
 */
export { describeProvider } from './conformance/describe-provider.ts'
export type {
  Absent,
  Discovery,
  EmbeddingsFixture,
  ErrorFixture,
  Errors,
  MidStreamError,
  ReplyFixture,
  Scenarios,
} from './conformance/scenarios.ts'
export { createProvider, testAttempt, testCall, testHost } from './doubles.ts'
export { openaiReply } from './openai-reply.ts'
export type { PluginConfig } from './plugin-gateway.ts'
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
} from './replies.ts'
export type { ClientError, ClientReply } from './run-link.ts'
export { type LinkBench, type LinkCall, type LinkRun, runLink, startLink } from './run-link.ts'
export type { Said, SaidTool } from './said.ts'
export { type Bytes, FIN, type Hold, hold, RST, type Script, type Step } from './script.ts'
export {
  type ReceivedRequest,
  type RequestHandler,
  type ScriptedUpstream,
  type ScriptedUpstreamOptions,
  scriptedUpstream,
} from './scripted-upstream.ts'
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
