import type { Pause } from '../async/pause.ts'
import { GatewayError } from '../errors.ts'

/** `available`: tried in order. `coolingDown`: tried after all available targets. `open`: its breaker is open, so it is not tried. */
export type Availability = 'available' | 'coolingDown' | 'open'

/** A breaker's state, as metrics and `/readyz?verbose` name it. */
export type BreakerState = 'closed' | 'open' | 'half_open'

/** Receives a breaker's new state. */
export type OnBreaker = (state: BreakerState) => void

/** The error of a call that finds the breakers of all its targets open. `ms`: until the first of them permits a probe. */
export const circuitOpen = (ms: number): GatewayError => new GatewayError('upstream_circuit_open', { headers: retryAfter(ms) })

/** The error of a call that only one credential can serve, which is cooling down. `ms`: until it is ready. */
export const coolingDown = (ms: number): GatewayError =>
  new GatewayError('previous_response_unavailable', { headers: retryAfter(ms) })

const retryAfter = (ms: number) => ({ 'retry-after': String(Math.min(Math.max(Math.ceil(ms / 1000), 1), 60)) })

/** The seconds in which attempts count. */
const WINDOW_S = 10
/** The breaker opens if the window has at least this many attempts and at least this share of them failed. */
const LEAST_ATTEMPTS = 5
const FAILED_SHARE = 0.5

/** How long it stays open: twice as long each time its probe fails. In milliseconds. */
const OPEN_MS = { first: 1000, most: 30_000 }

/** How much the newest time counts in the average. */
const SMOOTHING = 0.2

/**
 * The health of one target: a passive circuit breaker, a cooldown after refusals, its load and its latency. A failure that the client
 * caused counts as a success, an aborted call as neither. What fails for one account alone, whose requests may be the reason, opens the
 * breaker for that account alone (docs/decisions/breakers-and-accounts.md). Times are milliseconds of a monotonic clock.
 */
export class TargetHealth {
  /** Running attempts. */
  busy = 0
  /** Time to the first byte of a reply, smoothed; 0 until the first reply. */
  latency = 0
  readonly #breaks: boolean
  readonly #onBreaker: OnBreaker
  readonly #window = new AttemptWindow()
  #open = false
  /** The account for which it is open; undefined: for all. */
  #openFor: string | undefined
  #openMs = OPEN_MS.first
  #openUntil = 0
  #probing = false
  #coolsDownUntil = 0

  /** `breaks`: false for a target without a breaker. */
  constructor(breaks: boolean, onBreaker: OnBreaker) {
    this.#breaks = breaks
    this.#onBreaker = onBreaker
  }

  /** `account`: of the caller. */
  availability(now: number, account = ANYONE): Availability {
    if (this.#isOpenFor(account) && (now < this.#openUntil || this.#probing)) return 'open'
    return now < this.#coolsDownUntil ? 'coolingDown' : 'available'
  }

  /** As `availability`, for the account that fares worst: where the breaker is open for one account alone, for that one. */
  availabilityAtWorst(now: number): Availability {
    return this.availability(now, this.#openFor)
  }

  state(now: number): BreakerState {
    if (!this.#open) return 'closed'
    return now < this.#openUntil ? 'open' : 'half_open'
  }

  /** When the cooldown is over. */
  get cooledDownAt(): number {
    return this.#coolsDownUntil
  }

  /** When the breaker permits a probe and the cooldown is over. */
  get availableAt(): number {
    return Math.max(this.#openUntil, this.#coolsDownUntil)
  }

  /**
   * Begins an attempt. True if it is the probe of an open breaker, to be passed to `end`, `succeeded` and `failed`: only the probe
   * closes the breaker or opens it for longer; attempts that began before it opened do not.
   */
  begin(account = ANYONE): boolean {
    this.busy++
    if (!this.#isOpenFor(account)) return false
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
  succeeded(now: number, firstByteMs: number, isProbe: boolean, account = ANYONE): void {
    this.latency = this.latency === 0 ? firstByteMs : this.latency + SMOOTHING * (firstByteMs - this.latency)
    if (isProbe) this.#close()
    this.#window.count(now, account, false)
  }

  /** The target failed. */
  failed(now: number, isProbe: boolean, account = ANYONE): void {
    this.#window.count(now, account, true)
    if (!this.#breaks) return
    if (isProbe) this.#openUntilProbe(Math.min(2 * this.#openMs, OPEN_MS.most), now)
    else if (!this.#isOpenFor(account) && this.#isBad()) this.#openUntilProbe(OPEN_MS.first, now)
  }

  #isOpenFor(account: string): boolean {
    return this.#open && (this.#openFor === undefined || this.#openFor === account)
  }

  /** For `ms`, the target is tried after all others. */
  coolDown(now: number, ms: number): void {
    this.#coolsDownUntil = Math.max(this.#coolsDownUntil, now + ms)
  }

  #openUntilProbe(ms: number, now: number): void {
    this.#open = true
    this.#openMs = ms
    this.#openUntil = now + ms
    this.#onBreaker('open')
  }

  #close(): void {
    this.#open = false
    this.#openFor = undefined
    this.#window.clear()
    this.#onBreaker('closed')
  }

  /** Decides for whom it would open, too. */
  #isBad(): boolean {
    const { all, worst } = this.#window.sums
    if (all.attempts < LEAST_ATTEMPTS || all.failures < FAILED_SHARE * all.attempts) return false
    const others = { attempts: all.attempts - worst.attempts, failures: all.failures - worst.failures }
    const isForAll = others.failures > 0 && others.failures >= FAILED_SHARE * others.attempts
    const account = isForAll || worst.account === ANYONE ? undefined : worst.account
    if (this.#open && this.#openFor === account) return false
    this.#openFor = account
    return true
  }
}

/** The account of a caller that is not known. */
const ANYONE = ''

interface AttemptCounts {
  attempts: number
  failures: number
}

/** The attempts at a target in the last seconds, by the account of their callers. */
class AttemptWindow {
  /** By second, modulo the window. */
  readonly #seconds: Map<string, AttemptCounts>[] = Array.from({ length: WINDOW_S }, () => new Map())
  #second = 0

  /** `now`: monotonic milliseconds. */
  count(now: number, account: string, failed: boolean): void {
    const second = Math.floor(now / 1000)
    for (let gone = Math.max(this.#second + 1, second - WINDOW_S + 1); gone <= second; gone++)
      this.#seconds[gone % WINDOW_S]!.clear()
    this.#second = second
    const counts = this.#seconds[second % WINDOW_S]!
    const own = counts.get(account) ?? { attempts: 0, failures: 0 }
    own.attempts++
    if (failed) own.failures++
    counts.set(account, own)
  }

  clear(): void {
    for (const counts of this.#seconds) counts.clear()
  }

  /** The sums of all accounts, and of the one with the most failures. */
  get sums(): { readonly all: AttemptCounts; readonly worst: AttemptCounts & { readonly account: string } } {
    const all = { attempts: 0, failures: 0 }
    const accounts = new Map<string, AttemptCounts>()
    for (const counts of this.#seconds)
      for (const [account, { attempts, failures }] of counts) {
        const sum = accounts.get(account) ?? { attempts: 0, failures: 0 }
        accounts.set(account, sum)
        for (const each of [sum, all]) {
          each.attempts += attempts
          each.failures += failures
        }
      }
    let worst = { account: '', attempts: 0, failures: 0 }
    for (const [account, sum] of accounts) if (sum.failures > worst.failures) worst = { account, ...sum }
    return { all, worst }
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
