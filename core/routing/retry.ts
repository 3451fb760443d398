import type { RetryCause } from '../config/schema/retry-causes.ts'
import { type ErrorName, type GatewayError, UpstreamFailure } from '../errors.ts'
import { UpstreamError } from '../sdk/api.ts'

/** What a failed try says of its target. */
export interface FailurePolicy {
  /** What `retry.on` calls it; absent: another try would end the same. */
  readonly cause?: RetryCause
  /** Whether the same target may be asked again where there is no other; `at once`: without a pause. */
  readonly again?: 'later' | 'at once'
  /** Whether the target failed, as its breaker counts it. */
  readonly failed?: true
  /** Milliseconds for which the target is left alone where there is another one. */
  readonly cooldownMs?: number
}

/** Milliseconds. A refused credential or an empty account does not mend itself; yet somebody may mend it. */
const LONG_REST = 60_000
/** Milliseconds, where an upstream does not say how long. */
const SHORT_REST = 1000

/** By the error a try ended with. What is not here is the client's own, or the gateway's: no target is to blame. */
const VERDICTS: { readonly [Row in ErrorName]?: FailurePolicy } = {
  upstream_unreachable: { cause: 'connect', again: 'later', failed: true },
  // The one that did not answer in time may still be at work, and will charge for it.
  upstream_timeout: { cause: 'timeout', failed: true },
  upstream_disconnected: { cause: 'disconnected', again: 'at once', failed: true },
  upstream_invalid_response: { cause: 'invalid_response', again: 'at once', failed: true },
  upstream_error: { cause: '5xx', again: 'later', failed: true },
  upstream_overloaded: { cause: '5xx', again: 'later', failed: true, cooldownMs: SHORT_REST },
  upstream_rate_limited: { cause: '429', again: 'later', cooldownMs: SHORT_REST },
  upstream_quota_exceeded: { cause: '429', cooldownMs: LONG_REST },
  upstream_authentication_error: { cause: 'credential', cooldownMs: LONG_REST },
  upstream_model_not_found: { cause: 'not_found' },
  unsupported_endpoint: { cause: 'not_found' },
  // Not the upstream's doing, yet another one may have room.
  upstream_busy: { cause: '5xx' },
}

const NOTHING: FailurePolicy = {}

/** Statuses by which an upstream asks for patience; they say nothing of its health. */
const PATIENCE = new Set([408, 409, 425])

/** What follows from the error that a try ended with, before a byte of its reply was on its way to the client. */
export function policyFor({ row, cause }: GatewayError): FailurePolicy {
  const verdict = VERDICTS[row] ?? NOTHING
  if (cause instanceof UpstreamFailure) {
    if (cause.code === 'CONNECT_TIMEOUT') return { ...verdict, cause: 'connect' }
    // No time is left; or the next reply would be as large.
    if (cause.code === 'TOTAL_TIMEOUT' || cause.code === 'REPLY_TOO_LARGE') return { failed: true }
  }
  if (!(cause instanceof UpstreamError)) return verdict
  if (PATIENCE.has(cause.refusal.status)) return { cause: '5xx', again: 'later' }
  const { retryAfter } = cause.refusal
  const asked = verdict.cooldownMs !== undefined && retryAfter !== undefined && retryAfter > 0
  return asked ? { ...verdict, cooldownMs: Math.min(retryAfter * 1000, LONG_REST) } : verdict
}

/** Milliseconds: the first pause is at most so long, each further one at most twice as long as the one before, none longer than… */
const FIRST = 250
const MOST = 4000

/**
 * How long to wait before the same upstream is asked again, in milliseconds: at least as long as it asked for, and at random
 * (full jitter), so that those who failed together do not come back together. `retries`: so many pauses came before.
 */
export function backOff(retries: number, askedFor: number, random: () => number): number {
  return askedFor + random() * Math.min(MOST, FIRST * 2 ** retries)
}
