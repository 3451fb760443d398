import { GatewayError } from '../errors.ts'
import type { Call, Reservation } from '../sdk/api.ts'

/** What an attempt needs of the limits of its namespace. */
export interface LimitNeed {
  readonly call: Call
  readonly answerTokens: number
  promptTokens: number
  /** Whether `promptTokens` were counted, and not estimated. */
  isCounted: boolean
}

/** Why an attempt cannot be made now. */
export interface LimitReached {
  readonly need: LimitNeed
  /** The limit that has no room. */
  readonly refusedBy: NonNullable<Reservation['refusedBy']>
  /** Milliseconds; 0 if it is unknown when there is room again. */
  readonly retryAfterMs: number
  /** The longest wait, in milliseconds; 0: a wait would not help. */
  readonly waitMs: number
  /** The call needs more tokens than the whole limit. */
  readonly isTooLarge: boolean
}

/** What an attempt took of the limits of its namespace. What is not settled when it is disposed of is given back. */
export class LimitShare implements Disposable {
  readonly #reservation: Reservation
  readonly #need: LimitNeed
  readonly #onReturned: () => void
  #isSettled = false

  constructor(reservation: Reservation, need: LimitNeed, onReturned: () => void) {
    this.#reservation = reservation
    this.#need = need
    this.#onReturned = onReturned
  }

  /** The attempt has ended, and used so many tokens. */
  settle(tokens: number): void {
    this.#isSettled = true
    void this.#reservation.settle(tokens)
    this.#onReturned()
  }

  /** The attempt has ended. The upstream did not report its usage: the prompt's is that of the reservation. */
  settleEstimated(answerTokens: number): void {
    this.settle(this.#need.promptTokens + answerTokens)
  }

  /** There was no attempt after all. */
  cancel(): void {
    this.#isSettled = true
    void this.#reservation.cancel()
    this.#onReturned()
  }

  [Symbol.dispose](): void {
    if (!this.#isSettled) this.cancel()
  }
}

/** A share, or the limit that refused it. */
export type LimitAnswer = LimitShare | LimitReached

/** The end of a call under way is unknown. */
const UNKNOWN_MS = 1000

/** The error of a call that limits of namespaces have no room for. `all`: those of its targets; at least one. */
export function limitError(all: readonly LimitReached[]): GatewayError {
  const passing = all.filter(({ isTooLarge }) => !isTooLarge)
  if (passing.length === 0) {
    const detail = 'The call needs more tokens than the limit has: shorten the prompt, or ask for a shorter answer.'
    return new GatewayError('namespace_limit_reached', { values: { detail }, retry: false })
  }
  const ms = Math.min(...passing.map(({ retryAfterMs }) => retryAfterMs || UNKNOWN_MS))
  const headers = { 'retry-after': String(Math.ceil(ms / 1000)) }
  const detail = 'Retry after the time in the retry-after header.'
  return new GatewayError('namespace_limit_reached', { values: { detail }, headers })
}
