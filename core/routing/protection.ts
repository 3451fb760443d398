import type { Pause } from '../async/pause.ts'
import { GatewayError } from '../errors.ts'

/** `available`: tried in order. `coolingDown`: tried after all available targets. `open`: its breaker is open, so it is not tried. */
export type Availability = 'available' | 'coolingDown' | 'open'

/** A breaker's state, as metrics and `/readyz?verbose` name it. */
export type BreakerState = 'closed' | 'open' | 'half_open'

/** Receives a breaker's new state. */
export type OnBreaker = (state: BreakerState) => void

/** The breaker opens if the window has at least this many attempts and at least this share of them failed. */
const WINDOW_S = 10
const LEAST_ATTEMPTS = 5
const FAILED_SHARE = 0.5

/** How long it stays open: twice as long each time its probe fails. In milliseconds. */
const OPEN_MS = { first: 1000, most: 30_000 }

/** How much the newest time counts in the average. */
const SMOOTHING = 0.2

/**
 * The health of one target: a passive circuit breaker, a cooldown after refusals, its load and its latency. A failure that the client
 * caused counts as a success, an aborted call as neither. Times are milliseconds of a monotonic clock.
 */
export class TargetHealth {
  /** Running attempts. */
  busy = 0
  /** Time to the first byte of a reply, smoothed; 0 until the first reply. */
  latency = 0
  readonly #breaks: boolean
  readonly #onBreaker: OnBreaker
  /** Attempts and failures per second of the window. */
  readonly #attempts = new Uint32Array(WINDOW_S)
  readonly #failures = new Uint32Array(WINDOW_S)
  #second = 0
  #open = false
  #openMs = OPEN_MS.first
  #openUntil = 0
  #probing = false
  #coolsDownUntil = 0

  /** `breaks`: false for a target without a breaker. */
  constructor(breaks: boolean, onBreaker: OnBreaker) {
    this.#breaks = breaks
    this.#onBreaker = onBreaker
  }

  availability(now: number): Availability {
    if (this.#open && (now < this.#openUntil || this.#probing)) return 'open'
    return now < this.#coolsDownUntil ? 'coolingDown' : 'available'
  }

  state(now: number): BreakerState {
    if (!this.#open) return 'closed'
    return now < this.#openUntil ? 'open' : 'half_open'
  }

  /** When the breaker permits a probe and the cooldown is over. */
  get availableAt(): number {
    return Math.max(this.#openUntil, this.#coolsDownUntil)
  }

  /**
   * Begins an attempt. True if it is the probe of an open breaker, to be passed to `end`, `succeeded` and `failed`: only the probe
   * closes the breaker or opens it for longer; attempts that began before it opened do not.
   */
  begin(): boolean {
    this.busy++
    if (!this.#open) return false
    this.#probing = true
    this.#onBreaker('half_open')
    return true
  }

  /** Ends an attempt. `succeeded` or `failed` follows, or neither if the target is not responsible for the result. */
  end(isProbe: boolean): void {
    this.busy--
    if (isProbe) this.#probing = false
  }

  /** The target replied correctly. `firstByteMs`: the time to its first byte. */
  succeeded(now: number, firstByteMs: number, isProbe: boolean): void {
    this.latency = this.latency === 0 ? firstByteMs : this.latency + SMOOTHING * (firstByteMs - this.latency)
    if (isProbe) this.#close()
    this.#count(now, false)
  }

  /** The target failed. */
  failed(now: number, isProbe: boolean): void {
    this.#count(now, true)
    if (!this.#breaks) return
    if (isProbe) this.#openFor(Math.min(2 * this.#openMs, OPEN_MS.most), now)
    else if (!this.#open && this.#isBad()) this.#openFor(OPEN_MS.first, now)
  }

  /** For `ms`, the target is tried after all others. */
  coolDown(now: number, ms: number): void {
    this.#coolsDownUntil = Math.max(this.#coolsDownUntil, now + ms)
  }

  #openFor(ms: number, now: number): void {
    this.#open = true
    this.#openMs = ms
    this.#openUntil = now + ms
    this.#onBreaker('open')
  }

  #close(): void {
    this.#open = false
    this.#attempts.fill(0)
    this.#failures.fill(0)
    this.#onBreaker('closed')
  }

  #count(now: number, failed: boolean): void {
    const second = Math.floor(now / 1000)
    for (let gone = Math.max(this.#second + 1, second - WINDOW_S + 1); gone <= second; gone++) {
      this.#attempts[gone % WINDOW_S] = 0
      this.#failures[gone % WINDOW_S] = 0
    }
    this.#second = second
    this.#attempts[second % WINDOW_S]! += 1
    if (failed) this.#failures[second % WINDOW_S]! += 1
  }

  #isBad(): boolean {
    const attempts = this.#attempts.reduce((sum, count) => sum + count)
    return attempts >= LEAST_ATTEMPTS && this.#failures.reduce((sum, count) => sum + count) >= FAILED_SHARE * attempts
  }
}

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
