/** What each call adds: about one retry for seven calls. */
const PER_CALL = 0.15
/** What time adds, so that a quiet upstream's calls may be retried too: one in so many milliseconds. */
const MS_PER_RETRY = 5000
const MOST = 10

/**
 * How many calls may try the same upstream again: an upstream that fails must not be asked twice as often as one that does not. Trying
 * another upstream instead costs nothing.
 */
export class RetryBudget {
  #left = 3
  #countedAt: number

  constructor(now: number) {
    this.#countedAt = now
  }

  /** A call asks this upstream for the first time. */
  earn(): void {
    this.#left = Math.min(MOST, this.#left + PER_CALL)
  }

  /** Takes one retry; false where none is left. `now`: monotonic milliseconds. */
  spend(now: number): boolean {
    this.#left = Math.min(MOST, this.#left + (now - this.#countedAt) / MS_PER_RETRY)
    this.#countedAt = now
    if (this.#left < 1) return false
    this.#left -= 1
    return true
  }
}
