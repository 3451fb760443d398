import { GatewayError, type LimitRefusal, type LimitState, type LimitStates, unitOf } from 'unified-model-gateway/plugin'
import type { RateClass, ScopedLimits } from './classes.ts'

/**
 * Milliseconds as Go prints a duration, which is how OpenAI's `x-ratelimit-reset-*` and its messages say one: `12ms`, `1s`,
 * `1.798s`, `6m0s`, `24h0m0s`. Fractions of a millisecond are rounded up.
 */
export function goDuration(ms: number): string {
  const whole = Math.ceil(ms)
  if (whole === 0) return '0s'
  if (whole < 1000) return `${whole}ms`
  const hours = Math.floor(whole / 3_600_000)
  const minutes = Math.floor(whole / 60_000) % 60
  const seconds = `${(whole % 60_000) / 1000}s`
  if (hours > 0) return `${hours}h${minutes}m${seconds}`
  return minutes > 0 ? `${minutes}m${seconds}` : seconds
}

/**
 * OpenAI's `x-ratelimit-{limit,remaining,reset}-{requests,tokens}` for requests and tokens, where they are limited. `age`: milliseconds since the
 * reservation was made.
 */
export function rateHeaders({ requests, tokens }: LimitStates, age: number): Record<string, string> {
  const headers: Record<string, string> = {}
  if (requests !== undefined) tell(headers, REQUESTS, requests, age)
  if (tokens !== undefined) tell(headers, TOKENS, tokens, age)
  return headers
}

interface Names {
  readonly limit: string
  readonly remaining: string
  readonly reset: string
}

const namesOf = (dimension: string): Names => ({
  limit: `x-ratelimit-limit-${dimension}`,
  remaining: `x-ratelimit-remaining-${dimension}`,
  reset: `x-ratelimit-reset-${dimension}`,
})
const REQUESTS = namesOf('requests')
const TOKENS = namesOf('tokens')

function tell(headers: Record<string, string>, names: Names, { limit, remaining, resetMs }: LimitState, age: number): void {
  headers[names.limit] = String(limit)
  headers[names.remaining] = String(remaining)
  headers[names.reset] = goDuration(Math.max(0, resetMs - age))
}

/** A call that was refused. */
export interface Refused extends LimitRefusal {
  readonly rateClass: RateClass
  /** The limit that has no room for it. */
  readonly limit: ScopedLimits
  /** The model id; absent where the body was not read. */
  readonly model: string | undefined
}

/** The end of a call in progress is unknown. */
const UNKNOWN_WAIT_MS = 1000

/** The 429 of a refused call, worded like OpenAI's. For a call that exceeds the whole limit it has no time to wait. */
export function refusal(call: Refused): GatewayError {
  const { rateClass, limit: refusing, refusedBy, neededTokens } = call
  const waitMs = call.retryAfterMs || UNKNOWN_WAIT_MS
  const { measure, limit, used } = measureOf(call)
  const requested = refusedBy === 'tokens' ? neededTokens : 1
  const model = call.model === undefined ? '' : `\`${call.model}\` with `
  const where = `for ${model}your ${refusing.scope} in class ${rateClass.name} on ${measure}: Limit ${limit},`
  const tooLarge = requested > limit
  const detail = tooLarge
    ? `Request too large ${where} Requested ${requested}. The prompt or the requested answer must be reduced to run successfully.`
    : `Rate limit reached ${where} Used ${used}, Requested ${requested}. Please try again in ${goDuration(waitMs)}.`
  return new GatewayError(refusedBy === 'tokens' ? 'rate_limit_tokens' : 'rate_limit_requests', {
    values: { detail },
    headers: { ...rateHeaders(call, 0), 'retry-after': String(Math.ceil(waitMs / 1000)) },
    ...(tooLarge && { retry: false }),
  })
}

function measureOf(call: Refused): { measure: string; limit: number; used: number } {
  const { limit: refusing, refusedBy } = call
  if (refusedBy === 'concurrent') {
    const limit = refusing.limits.concurrent!
    return { measure: 'concurrent requests', limit, used: limit }
  }
  const { limit, remaining } = call[refusedBy]!
  return { measure: `${refusedBy} per ${unitOf(refusing.limits[refusedBy]!)}`, limit, used: limit - remaining }
}
