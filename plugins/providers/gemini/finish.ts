import { type FinishReason, UpstreamError } from 'unified-model-gateway/plugin'

const FINISH: ReadonlyMap<unknown, FinishReason> = new Map([
  ['STOP', 'stop'],
  ['OTHER', 'stop'],
  ['MAX_TOKENS', 'length'],
  ['CONTINUATION', 'length'],
  ['SAFETY', 'content_filter'],
  ['RECITATION', 'content_filter'],
  ['LANGUAGE', 'content_filter'],
  ['BLOCKLIST', 'content_filter'],
  ['PROHIBITED_CONTENT', 'content_filter'],
  ['SPII', 'content_filter'],
  ['IMAGE_SAFETY', 'content_filter'],
  ['IMAGE_PROHIBITED_CONTENT', 'content_filter'],
  ['IMAGE_RECITATION', 'content_filter'],
  ['IMAGE_OTHER', 'content_filter'],
] satisfies [string, FinishReason][])

/** The model garbled its answer: there is nothing in it that a client could use, and the next try may well succeed. */
const FAILED: ReadonlySet<unknown> = new Set([
  'MALFORMED_FUNCTION_CALL',
  'UNEXPECTED_TOOL_CALL',
  'TOO_MANY_TOOL_CALLS',
  'MALFORMED_RESPONSE',
])

/**
 * Google's `finishReason` as OpenAI's `finish_reason`; a new one is `stop`, for clients know no others. A candidate that calls
 * functions ends with `STOP` like any other. Throws `UpstreamError` where the model failed.
 */
export function toFinishReason(reason: unknown, calls: number): FinishReason {
  if (FAILED.has(reason)) throw new UpstreamError({ status: 500, message: `Gemini ended with ${reason}.` })
  const finish = FINISH.get(reason) ?? 'stop'
  return finish === 'stop' && calls > 0 ? 'tool_calls' : finish
}
