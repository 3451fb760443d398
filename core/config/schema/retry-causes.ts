/**
 * The failures of an attempt after which another one may be made, as named in `retry.on`: no connection; a timeout;
 * the connection was lost before the reply; an invalid reply; too many requests; an error of the upstream; the upstream refuses our
 * credential; it does not have the model.
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

/** What simulated calls may meet, as named in `expect` and by `--failing`: a failure, or a limit of the namespace that is reached. */
export const ASSUMED_CAUSES = [...RETRY_CAUSES, 'limited'] as const

/** One of `ASSUMED_CAUSES`. */
export type AssumedCause = (typeof ASSUMED_CAUSES)[number]

/** After these another target is tried, never the same one: it may still be working, or would only fail again. */
export const ONLY_ELSEWHERE: ReadonlySet<string> = new Set<RetryCause>(['timeout', 'credential', 'not_found'])

/** After these one more attempt is made in all: the upstream may have served the call, and charged for it. */
export const ONCE_MORE: ReadonlySet<string> = new Set<RetryCause>(['disconnected', 'invalid_response'])
