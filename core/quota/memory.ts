import type { Budget, Limits, Rate, RateLimits, Reservation } from '../sdk/api.ts'

/**
 * Limits in the memory of this process: exact within it, not shared with others, lost at its end.
 *
 * Windows have a fixed length and start with the first call of a subject. Usage is kept for each window length, not for each limit, so
 * that a reload that changes an amount does not refill the budget. All is synchronous: no other call can take anything between a check
 * and its charge. `clock`: monotonic milliseconds.
 */
export function createMemoryLimits(clock: () => number = () => performance.now()): Limits {
  const requestWindows = new Map<number, Windows>()
  const tokenWindows = new Map<number, Windows>()
  const concurrency = new Concurrency()

  function reserve(subject: string, limits: RateLimits, amount: number): Reservation {
    if (!(amount >= 0)) throw new RangeError(`cannot reserve ${amount} tokens; give a number from 0`)
    const now = clock()
    const requests = limits.requests && new Charge(limits.requests, 1, windowOf(requestWindows, limits.requests, subject, now))
    const tokens =
      limits.tokens && new Charge(limits.tokens, Math.ceil(amount), windowOf(tokenWindows, limits.tokens, subject, now))
    const budgets = () => ({ requests: requests?.budget(now), tokens: tokens?.budget(now) })
    if (requests?.exceedsLimit) return refused('requests', requests.window.endsAt - now, budgets())
    if (tokens?.exceedsLimit) return refused('tokens', tokens.window.endsAt - now, budgets())
    if (concurrency.inFlight(subject) >= (limits.concurrent ?? Number.POSITIVE_INFINITY))
      return refused('concurrent', 0, budgets())
    requests?.apply()
    tokens?.apply()
    return granted(budgets(), { requests, tokens, release: concurrency.acquire(subject) })
  }

  return { reserve }
}

type Budgets = Pick<Reservation, 'requests' | 'tokens'>

function refused(refusedBy: NonNullable<Reservation['refusedBy']>, retryAfterMs: number, budgets: Budgets): Reservation {
  return { refusedBy, retryAfterMs, ...budgets, settle() {}, cancel() {} }
}

/** What a call has taken. */
interface Taken {
  readonly requests: Charge | undefined
  readonly tokens: Charge | undefined
  /** Ends the concurrent call. */
  readonly release: () => void
}

function granted(budgets: Budgets, { requests, tokens, release }: Taken): Reservation {
  let isOver = false
  function end(usedRequests: number, usedTokens: number): void {
    if (isOver) return
    isOver = true
    release()
    requests?.correct(usedRequests)
    tokens?.correct(usedTokens)
  }
  return { retryAfterMs: 0, ...budgets, settle: (used) => end(1, used), cancel: () => end(0, 0) }
}

/** The amount that a call takes from one window. */
class Charge {
  readonly #limit: number
  readonly #amount: number
  readonly window: Window

  constructor(rate: Rate, amount: number, window: Window) {
    this.#limit = rate.amount
    this.#amount = amount
    this.window = window
  }

  get exceedsLimit(): boolean {
    return this.window.used + this.#amount > this.#limit
  }

  apply(): void {
    this.window.used += this.#amount
  }

  /** Replaces the reserved amount by the used one, unless that is not a count. A window that has ended is not credited. */
  correct(used: number): void {
    if (Number.isSafeInteger(used) && used >= 0) this.window.used = Math.max(0, this.window.used + used - this.#amount)
  }

  budget(now: number): Budget {
    const remaining = Math.max(0, this.#limit - this.window.used)
    return { limit: this.#limit, remaining, resetMs: this.window.used === 0 ? 0 : this.window.endsAt - now }
  }
}

/** Counts the calls in flight of each subject. */
class Concurrency {
  readonly #inFlight = new Map<string, number>()

  inFlight(subject: string): number {
    return this.#inFlight.get(subject) ?? 0
  }

  /** Counts a call. The returned function must be called once, at its end. */
  acquire(subject: string): () => void {
    this.#inFlight.set(subject, this.inFlight(subject) + 1)
    return () => {
      const left = this.inFlight(subject) - 1
      if (left > 0) this.#inFlight.set(subject, left)
      else this.#inFlight.delete(subject)
    }
  }
}

/** The usage of a subject in one window. */
interface Window {
  used: number
  /** Monotonic milliseconds: a change of the wall clock ends no window. */
  readonly endsAt: number
}

/** The current window of a subject for a rate. */
function windowOf(windowsByLength: Map<number, Windows>, { windowMs }: Rate, subject: string, now: number): Window {
  const windows = windowsByLength.get(windowMs) ?? new Windows(windowMs)
  windowsByLength.set(windowMs, windows)
  return windows.current(subject, now)
}

/** From this number of subjects on, a new window first removes those that have ended. */
const MIN_SWEEP = 1024

/** The windows of one length, one for each subject, which its first call opens. */
class Windows {
  readonly #windowMs: number
  readonly #bySubject = new Map<string, Window>()
  #sweepAt = MIN_SWEEP

  constructor(windowMs: number) {
    this.#windowMs = windowMs
  }

  /** The subject's window at `now`; a new one if the last has ended. */
  current(subject: string, now: number): Window {
    const window = this.#bySubject.get(subject)
    if (window !== undefined && window.endsAt > now) return window
    if (this.#bySubject.size >= this.#sweepAt) this.#sweep(now)
    const opened = { used: 0, endsAt: now + this.#windowMs }
    this.#bySubject.set(subject, opened)
    return opened
  }

  /** The next sweep is due at twice the remaining windows, so that its amortised cost for each new window is constant. */
  #sweep(now: number): void {
    for (const [subject, window] of this.#bySubject) if (window.endsAt <= now) this.#bySubject.delete(subject)
    this.#sweepAt = Math.max(MIN_SWEEP, 2 * this.#bySubject.size)
  }
}
