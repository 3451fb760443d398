import { ANYONE } from './cooldown.ts'

/** A breaker's state, as metrics and `/readyz?verbose` name it. */
export type BreakerState = 'closed' | 'open' | 'half_open'

/** Receives a breaker's new state. */
export type OnBreaker = (state: BreakerState) => void

/** The seconds in which attempts count. */
const WINDOW_S = 10
/** The breaker opens if the window has at least this many attempts and at least this share of them failed. */
const LEAST_ATTEMPTS = 5
const FAILED_SHARE = 0.5

/** How long it stays open: twice as long each time its probe fails. In milliseconds. */
const OPEN_MS = { first: 1000, most: 30_000 }

/**
 * A passive circuit breaker. What fails for one account alone, whose requests may be the reason, opens it for that account alone
 * (docs/decisions/breakers-and-accounts.md). Times are milliseconds of a monotonic clock.
 */
export class CircuitBreaker {
  readonly #onBreaker: OnBreaker
  readonly #window = new AttemptWindow()
  #open = false
  /** The account for which it is open; undefined: for all. */
  #openFor: string | undefined
  #openMs = OPEN_MS.first
  #openUntil = 0
  #probing = false

  constructor(onBreaker: OnBreaker) {
    this.#onBreaker = onBreaker
  }

  /** Whether an attempt for an account must not begin now. */
  stops(now: number, account: string): boolean {
    return this.#isOpenFor(account) && (now < this.#openUntil || this.#probing)
  }

  /** The account for which it is open, if for one alone. */
  get openFor(): string | undefined {
    return this.#openFor
  }

  state(now: number): BreakerState {
    if (!this.#open) return 'closed'
    return now < this.#openUntil ? 'open' : 'half_open'
  }

  /** When it permits a probe. */
  get probeAt(): number {
    return this.#openUntil
  }

  /**
   * Begins an attempt. True if it is the probe: only the probe closes the breaker or opens it for longer; attempts that began before it
   * opened do not.
   */
  begin(account: string): boolean {
    if (!this.#isOpenFor(account)) return false
    this.#probing = true
    this.#onBreaker('half_open')
    return true
  }

  /** The probe ended. `succeeded` or `failed` follows, or neither if its result says nothing. */
  endProbe(): void {
    this.#probing = false
  }

  succeeded(now: number, isProbe: boolean, account: string): void {
    if (isProbe) this.#close()
    this.#window.count(now, account, false)
  }

  failed(now: number, isProbe: boolean, account: string): void {
    this.#window.count(now, account, true)
    if (isProbe) this.#openUntilProbe(Math.min(2 * this.#openMs, OPEN_MS.most), now)
    else if (!this.#isOpenFor(account) && this.#isBad()) this.#openUntilProbe(OPEN_MS.first, now)
  }

  #isOpenFor(account: string): boolean {
    return this.#open && (this.#openFor === undefined || this.#openFor === account)
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

interface AttemptCounts {
  attempts: number
  failures: number
}

/** The attempts at a target in the last seconds, by the account of their callers. */
class AttemptWindow {
  /** By second, modulo the window. A second without attempts has no entry: most models that clients make up are asked once. */
  readonly #seconds: Map<string, AttemptCounts>[] = []
  #second = 0

  /** `now`: monotonic milliseconds. */
  count(now: number, account: string, failed: boolean): void {
    const second = Math.floor(now / 1000)
    for (let gone = Math.max(this.#second + 1, second - WINDOW_S + 1); gone <= second; gone++)
      this.#seconds[gone % WINDOW_S]?.clear()
    this.#second = second
    const counts = this.#seconds[second % WINDOW_S] ?? new Map<string, AttemptCounts>()
    this.#seconds[second % WINDOW_S] = counts
    const own = counts.get(account) ?? { attempts: 0, failures: 0 }
    own.attempts++
    if (failed) own.failures++
    counts.set(account, own)
  }

  clear(): void {
    this.#seconds.length = 0
  }

  /** The sums of all accounts, and of the one with the most failures. */
  get sums(): { readonly all: AttemptCounts; readonly worst: AttemptCounts & { readonly account: string } } {
    const all = { attempts: 0, failures: 0 }
    const accounts = new Map<string, AttemptCounts>()
    for (const counts of this.#seconds)
      for (const [account, { attempts, failures }] of counts ?? []) {
        const sum = accounts.get(account) ?? { attempts: 0, failures: 0 }
        accounts.set(account, sum)
        for (const each of [sum, all]) {
          each.attempts += attempts
          each.failures += failures
        }
      }
    let worst = { account: ANYONE, attempts: 0, failures: 0 }
    for (const [account, sum] of accounts) if (sum.failures > worst.failures) worst = { account, ...sum }
    return { all, worst }
  }
}
