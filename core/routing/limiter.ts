import type { Pause } from '../async/pause.ts'
import { GatewayError } from '../errors.ts'

/** How many calls an upstream gets at once. */
export interface ConcurrencyLimits {
  readonly limit: number
  /** How many more may wait for a place. */
  readonly queue: number
  /** How long one may wait, in milliseconds. */
  readonly wait: number
}

interface Waiter {
  admit(): void
  end(error: GatewayError): void
}

/** The places at one upstream, and the short queue before them: first come, first served. */
export class ConcurrencyLimiter {
  readonly #limits: ConcurrencyLimits | undefined
  #taken = 0
  /** In the order in which they came. */
  readonly #queue = new Set<Waiter>()

  /** Without limits every call has a place. */
  constructor(limits: ConcurrencyLimits | undefined) {
    this.#limits = limits
  }

  /** How many wait. */
  get waiting(): number {
    return this.#queue.size
  }

  /**
   * Takes a place. Where there is none, the pause until there is: it ends with `upstream_busy` if that takes too long. Throws
   * `upstream_busy` where too many wait already.
   */
  acquire(): Pause | undefined {
    if (this.#limits === undefined || this.#taken < this.#limits.limit) {
      this.#taken++
      return undefined
    }
    if (this.#queue.size >= this.#limits.queue) throw busy()
    return this.#wait(this.#limits.wait)
  }

  /** Gives a place back, once for each that was taken. */
  release(): void {
    this.#taken--
    const [next] = this.#queue
    if (next === undefined) return
    this.#queue.delete(next)
    this.#taken++
    next.admit()
  }

  #wait(ms: number): Pause {
    const { promise: over, resolve, reject } = Promise.withResolvers<void>()
    const waiter: Waiter = {
      admit: () => {
        clearTimeout(timer)
        resolve()
      },
      end: (error) => {
        clearTimeout(timer)
        this.#queue.delete(waiter)
        reject(error)
      },
    }
    const timer = setTimeout(() => waiter.end(busy()), ms)
    this.#queue.add(waiter)
    return { over, end: waiter.end }
  }
}

const busy = (): GatewayError => new GatewayError('upstream_busy', { headers: { 'retry-after': '1' } })

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
