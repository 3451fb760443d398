/**
 * Why a try at a target may be followed by another one, as `retry.on` and `expect` name it: no connection; a deadline passed;
 * the connection was lost before the reply; a reply that makes no sense; too many requests; a fault of the upstream; the
 * upstream refuses our credential; it does not have the model.
 */
export const RETRY_CAUSES = [
  'connect',
  'timeout',
  'disconnected',
  'invalid_response',
  '429',
  '5xx',
  'credential',
  'not_found',
] as const

/** One of `RETRY_CAUSES`. */
export type RetryCause = (typeof RETRY_CAUSES)[number]

/** After these another target is tried, never the same one: it may still be at work, or would only say the same. */
export const ONLY_ELSEWHERE: ReadonlySet<string> = new Set<RetryCause>(['timeout', 'credential', 'not_found'])

/** After these one more try is made in all: the call may have been served, and charged for. */
export const ONCE_MORE: ReadonlySet<string> = new Set<RetryCause>(['disconnected', 'invalid_response'])
