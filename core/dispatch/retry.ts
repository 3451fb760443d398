import type { RetryCause } from '../config/schema/retry-causes.ts'
import type { ErrorName } from '../error-table.ts'
import { type GatewayError, UpstreamFailure } from '../errors.ts'
import type { FailedPart } from '../routing/health.ts'
import { UpstreamError } from '../sdk/api.ts'
import { type Blame, blameOf } from '../upstream/blame.ts'

/** What follows from a failed attempt. */
export interface FailurePolicy {
  /** Its name in `retry.on`; absent: no retry, another attempt would fail in the same way. */
  readonly cause?: RetryCause
  /** Whether the same target may be retried if no other is left; `immediately`: without a pause. */
  readonly again?: 'later' | 'immediately'
  /** What the breaker counts as failed. */
  readonly failed?: FailedPart
  /** Milliseconds for which the target is tried after all others. */
  readonly cooldownMs?: number
  /** Whether the cooldown is for all accounts at once; else for the caller's, until a second one meets it. */
  readonly forAll?: boolean
  /** Whether another credential may succeed: if the namespace has several, it is tried, and the one that was refused cools down. */
  readonly ofCredential?: true
}

/** Milliseconds. A refused credential or an empty account lasts until an operator acts. */
const LONG_COOLDOWN = 60_000
/** Milliseconds, if the upstream sends no `retry-after`. */
const SHORT_COOLDOWN = 1000

/** By the error of the attempt. Errors that are not listed are caused by the client or the gateway, not by the target. */
const POLICIES: { readonly [Row in ErrorName]?: FailurePolicy } = {
  upstream_unreachable: { cause: 'connect', again: 'later', failed: 'connection' },
  // The upstream may still be working, and charge for it: the same target is not retried.
  upstream_timeout: { cause: 'timeout', failed: 'reply' },
  upstream_disconnected: { cause: 'disconnected', again: 'immediately', failed: 'reply' },
  upstream_invalid_response: { cause: 'invalid_response', again: 'immediately', failed: 'reply' },
  // The client's schema may be one that no answer fits: the target does not count as failed.
  upstream_schema_mismatch: { cause: 'invalid_response', again: 'immediately' },
  upstream_error: { cause: '5xx', again: 'later', failed: 'reply' },
  upstream_overloaded: { cause: '5xx', again: 'later', failed: 'reply', cooldownMs: SHORT_COOLDOWN },
  upstream_rate_limited: { cause: '429', again: 'later', cooldownMs: SHORT_COOLDOWN, ofCredential: true },
  upstream_quota_exceeded: { cause: '429', cooldownMs: LONG_COOLDOWN, ofCredential: true },
  upstream_authentication_error: { cause: 'credential', cooldownMs: LONG_COOLDOWN, ofCredential: true },
  upstream_model_not_found: { cause: 'not_found' },
  unsupported_endpoint: { cause: 'not_found' },
  // The same call may be smaller than another upstream's limit.
  upstream_size_refused: { cause: '429' },
  // The gateway's own limit; another upstream may have a free place.
  upstream_busy: { cause: '5xx' },
}

const NO_RETRY: FailurePolicy = {}

/** What every call of a target meets. */
const OF_ALL: ReadonlySet<Blame> = new Set(['credential', 'account'])

/** Statuses that ask for a later retry, and are no failure of the target. */
const RETRY_LATER = new Set([408, 409, 425])

/** The policy for an attempt's error. Applies only before a byte of the reply is sent to the client. */
export function policyFor({ row, cause }: GatewayError): FailurePolicy {
  const policy = POLICIES[row] ?? NO_RETRY
  if (cause instanceof UpstreamFailure) {
    if (cause.code === 'CONNECT_TIMEOUT') return { ...policy, cause: 'connect', failed: 'connection' }
    // No time is left, or the next reply would be as large.
    if (cause.code === 'TOTAL_TIMEOUT' || cause.code === 'REPLY_TOO_LARGE') return { failed: 'reply' }
  }
  // A credential that the provider could not get: no request is to blame.
  if (!(cause instanceof UpstreamError)) return policy.cooldownMs === undefined ? policy : { ...policy, forAll: true }
  if (RETRY_LATER.has(cause.refusal.status)) return { cause: '5xx', again: 'later' }
  if (policy.cooldownMs === undefined) return policy
  const { retryAfter } = cause.refusal
  const asked = retryAfter !== undefined && retryAfter > 0
  const cooldownMs = asked ? Math.min(retryAfter * 1000, LONG_COOLDOWN) : policy.cooldownMs
  return { ...policy, cooldownMs, forAll: OF_ALL.has(blameOf(cause.refusal)) }
}

/** Milliseconds: the upper bound of the first pause. It doubles with each pause, up to `MOST`. */
const FIRST = 250
const MOST = 4000

/**
 * The pause before a retry at the same upstream, in milliseconds: the pause that it asked for plus a random part (full jitter), so that
 * calls that failed together do not retry together. `retries`: the number of earlier pauses.
 */
export function backOff(retries: number, askedFor: number, random: () => number): number {
  return askedFor + random() * Math.min(MOST, FIRST * 2 ** retries)
}
