import { usageOf } from '../protocol/usage.ts'
import { type Call, promptEstimate, type Usage } from '../sdk/api.ts'
import type { UpstreamAttempt } from '../upstream/attempt.ts'
import type { AttemptEnd } from '../upstream/attempt-listener.ts'

/** The usage of an attempt. */
export interface Tokens {
  readonly usage: Usage
  /** True if the upstream did not report it. */
  readonly estimated: boolean
}

/**
 * The usage of an attempt: as the upstream reported it, else estimated. A failed attempt without a report is not charged; one that the
 * client left costs its prompt at least, since the upstream goes on with it.
 */
export function tokensOf(attempt: UpstreamAttempt, call: Call, { result }: AttemptEnd): Tokens | undefined {
  if (attempt.usage !== undefined) return { usage: attempt.usage, estimated: false }
  const isLeft = result === 'client_closed'
  const isUnanswered = attempt.wasSent && attempt.heardAt === undefined
  const completion = attempt.estimatedTokens ?? (isLeft && isUnanswered ? 0 : undefined)
  if (completion === undefined || (completion === 0 && result !== 'ok' && !isLeft)) return undefined
  return { usage: usageOf(promptEstimate(call), completion), estimated: true }
}
