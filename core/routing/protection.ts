import { TimedSignal } from '../async/abort.ts'
import { Semaphore } from '../async/semaphore.ts'
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

/** Limits the concurrent calls to one upstream. Calls beyond the limit wait in a bounded queue, in order of arrival. */
export class ConcurrencyLimiter {
  readonly #limits: ConcurrencyLimits | undefined
  readonly #places: Semaphore
  readonly #place: Disposable = { [Symbol.dispose]: () => this.#places.release() }

  /** Without limits each call gets a place immediately. */
  constructor(limits: ConcurrencyLimits | undefined) {
    this.#limits = limits
    this.#places = new Semaphore(limits?.limit ?? Number.POSITIVE_INFINITY)
  }

  /** The number of waiting calls. */
  get waiting(): number {
    return this.#places.waiting
  }

  /** Takes a place, which is given back by its disposal; undefined if none is free. */
  tryAcquire(): Disposable | undefined {
    return this.#places.tryAcquire() ? this.#place : undefined
  }

  /**
   * Waits for a place, and takes it. Rejects with `upstream_busy` if the queue is full, or after `wait`, and with the reason of `signal` once
   * that is aborted.
   */
  async acquire(signal: AbortSignal): Promise<Disposable> {
    const { queue, wait } = this.#limits!
    if (this.#places.waiting >= queue) throw busy()
    using waiting = new TimedSignal(wait, busy, signal)
    await this.#places.acquire(waiting.signal)
    return this.#place
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
  /** When the last retry was taken. */
  #countedAt: number | undefined

  /** A call makes its first attempt at this upstream. */
  earn(): void {
    this.#left = Math.min(MOST, this.#left + PER_CALL)
  }

  /** Whether a retry is left. `now`: monotonic milliseconds. */
  allows(now: number): boolean {
    return this.#leftAt(now) >= 1
  }

  /** Takes one retry. */
  spend(now: number): void {
    this.#left = this.#leftAt(now) - 1
    this.#countedAt = now
  }

  #leftAt(now: number): number {
    return Math.min(MOST, this.#left + (now - (this.#countedAt ?? now)) / MS_PER_RETRY)
  }
}
