import type { Pause } from '../async/pause.ts'
import { GatewayError } from '../errors.ts'

/** How far a target may be trusted: asked freely, asked only when nobody better is left, or not asked. */
export type Availability = 'available' | 'coolingDown' | 'open'

/** A breaker's state, as metrics and `/readyz?verbose` name it. */
export type BreakerState = 'closed' | 'open' | 'half_open'

/** Hears of changes of a breaker's state. */
export type OnBreaker = (state: BreakerState) => void

/** The breaker opens where, within the window, at least so many tries and such a share of them failed. */
const WINDOW_S = 10
const LEAST_TRIES = 5
const FAILED_SHARE = 0.5

/** How long it stays open: twice as long each time its probe fails. In milliseconds. */
const OPEN_MS = { first: 1000, most: 30_000 }

/** How much the newest time counts in the average. */
const SMOOTHING = 0.2

/**
 * How one target fares: a passive breaker, a rest after refusals, and how busy and how fast it is. Told of tries only: a client's own
 * fault, or its departure, is no try. Times are milliseconds of a monotonic clock.
 */
export class TargetHealth {
  /** Tries under way. */
  busy = 0
  /** To the first byte of a reply, smoothed; 0 while none is known. */
  latency = 0
  readonly #breaks: boolean
  readonly #onBreaker: OnBreaker
  /** Tries and failures of the last seconds, a place each. */
  readonly #tries = new Uint32Array(WINDOW_S)
  readonly #failures = new Uint32Array(WINDOW_S)
  #second = 0
  #open = false
  #openMs = OPEN_MS.first
  #openUntil = 0
  #probing = false
  #coolsDownUntil = 0

  /** `breaks`: false for a target that is asked however often it fails. */
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

  /** When a shut or resting target may be asked again. */
  get availableAt(): number {
    return Math.max(this.#openUntil, this.#coolsDownUntil)
  }

  /**
   * A try begins. True where it is the probe, the only one whose breaker is open: it alone decides what becomes of that, not those
   * that were under way when it opened. Tell it to the three below.
   */
  begin(): boolean {
    this.busy++
    if (!this.#open) return false
    this.#probing = true
    this.#onBreaker('half_open')
    return true
  }

  /** A try ended, in one of the two ways below or, where nobody is to blame, in neither. */
  end(isProbe: boolean): void {
    this.busy--
    if (isProbe) this.#probing = false
  }

  /** The target did what it was asked. `firstByteMs`: what it took to begin. */
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

  /** The target, or its credential, is left alone for a while where there is another one. */
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
    this.#tries.fill(0)
    this.#failures.fill(0)
    this.#onBreaker('closed')
  }

  #count(now: number, failed: boolean): void {
    const second = Math.floor(now / 1000)
    for (let gone = Math.max(this.#second + 1, second - WINDOW_S + 1); gone <= second; gone++) {
      this.#tries[gone % WINDOW_S] = 0
      this.#failures[gone % WINDOW_S] = 0
    }
    this.#second = second
    this.#tries[second % WINDOW_S]! += 1
    if (failed) this.#failures[second % WINDOW_S]! += 1
  }

  #isBad(): boolean {
    const tries = this.#tries.reduce((sum, count) => sum + count)
    return tries >= LEAST_TRIES && this.#failures.reduce((sum, count) => sum + count) >= FAILED_SHARE * tries
  }
}

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
