import type { Pause } from '../async/pause.ts'
import { GatewayError } from '../errors.ts'

/** The error of a call that finds the breakers of all its targets open. `ms`: until the first of them permits a probe. */
export const circuitOpen = (ms: number): GatewayError => new GatewayError('upstream_circuit_open', { headers: retryAfter(ms) })

/** The error of a call that only one credential can serve, which is cooling down. `ms`: until it is ready. */
export const coolingDown = (ms: number): GatewayError =>
  new GatewayError('previous_response_unavailable', { headers: retryAfter(ms) })

const retryAfter = (ms: number) => ({ 'retry-after': String(Math.min(Math.max(Math.ceil(ms / 1000), 1), 60)) })

/** The concurrency limit of an upstream. */
export interface ConcurrencyLimits {
  /** The most concurrent calls. */
  readonly limit: number
  /** The most calls that wait for a place. */
  readonly queue: number
  /** The longest wait for a place, in milliseconds. */
  readonly wait: number
}

interface Waiter {
  admit(): void
  end(error: GatewayError): void
}

/** Limits the concurrent calls to one upstream. Calls beyond the limit wait in a bounded FIFO queue. */
export class ConcurrencyLimiter {
  readonly #limits: ConcurrencyLimits | undefined
  #taken = 0
  /** In order of arrival. */
  readonly #queue = new Set<Waiter>()

  /** Without limits each call gets a place immediately. */
  constructor(limits: ConcurrencyLimits | undefined) {
    this.#limits = limits
  }

  /** The number of waiting calls. */
  get waiting(): number {
    return this.#queue.size
  }

  /**
   * Takes a place. If none is free, returns a pause until one is, which ends with `upstream_busy` after `wait`. Throws
   * `upstream_busy` if the queue is full.
   */
  acquire(): Pause | undefined {
    if (this.#limits === undefined || this.#taken < this.#limits.limit) {
      this.#taken++
      return undefined
    }
    if (this.#queue.size >= this.#limits.queue) throw busy()
    return this.#wait(this.#limits.wait)
  }

  /** Releases a place. Call it once for each place taken. */
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

/** Added per call: about one retry for seven calls. */
const PER_CALL = 0.15
/** Time also adds one retry per this many milliseconds, so that calls to a rarely used upstream can be retried. */
const MS_PER_RETRY = 5000
const MOST = 10

/**
 * Limits retries at one upstream, so that an upstream that fails does not get twice its normal load. An attempt at another upstream
 * needs no budget (docs/decisions/retry-budget.md).
 */
export class RetryBudget {
  #left = 3
  #countedAt: number

  constructor(now: number) {
    this.#countedAt = now
  }

  /** A call makes its first attempt at this upstream. */
  earn(): void {
    this.#left = Math.min(MOST, this.#left + PER_CALL)
  }

  /** Takes one retry; false if none is left. `now`: monotonic milliseconds. */
  spend(now: number): boolean {
    this.#left = Math.min(MOST, this.#left + (now - this.#countedAt) / MS_PER_RETRY)
    this.#countedAt = now
    if (this.#left < 1) return false
    this.#left -= 1
    return true
  }
}
