import { type FinishReason, UpstreamError } from 'unified-model-gateway/plugin'

const FINISH: ReadonlyMap<unknown, FinishReason> = new Map([
  ['COMPLETE', 'stop'],
  ['STOP_SEQUENCE', 'stop'],
  ['MAX_TOKENS', 'length'],
  ['TOOL_CALL', 'tool_calls'],
] satisfies [string, FinishReason][])

/** Ends that are none: there is no reply to give. */
const FAILED: ReadonlyMap<unknown, number> = new Map([
  ['ERROR', 502],
  ['TIMEOUT', 504],
])

/**
 * Cohere's `finish_reason` as OpenAI's; a new one is `stop`, for clients know no others. `error`: what Cohere says of it. Throws
 * `UpstreamError` where the reply was not finished.
 */
export function toFinishReason(reason: unknown, error?: unknown): FinishReason {
  const status = FAILED.get(reason) ?? (typeof error === 'string' && error !== '' ? 502 : undefined)
  if (status !== undefined) throw new UpstreamError({ status, message: typeof error === 'string' ? error : String(reason) })
  return FINISH.get(reason) ?? 'stop'
}
