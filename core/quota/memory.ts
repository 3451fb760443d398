import type { Budget, Limits, Rate, RateLimits, Reservation } from '../sdk/api.ts'

/**
 * Limits in this process's memory: exact within it, unknown to others, forgotten at its end.
 *
 * Windows are of fixed length and start with a subject's first call. A subject's use is kept per length of window, not per limit, so
 * a reload that changes an amount does not fill the budget again. Everything is synchronous: nobody takes between a look and the
 * taking that follows from it. `clock`: monotonic milliseconds.
 */
export function createMemoryLimits(clock: () => number = () => performance.now()): Limits {
  const requests = new Map<number, Windows>()
  const tokens = new Map<number, Windows>()
  const places = new Places()

  function reserve(subject: string, limits: RateLimits, amount: number): Reservation {
    if (!(amount >= 0)) throw new RangeError(`cannot reserve ${amount} tokens; give a number from 0`)
    const now = clock()
    const asked = limits.requests && new Charge(limits.requests, 1, windowOf(requests, limits.requests, subject, now))
    const wanted = limits.tokens && new Charge(limits.tokens, Math.ceil(amount), windowOf(tokens, limits.tokens, subject, now))
    const left = () => ({ requests: asked?.budget(now), tokens: wanted?.budget(now) })
    if (asked?.isTooMuch) return refused('requests', asked.window.endsAt - now, left())
    if (wanted?.isTooMuch) return refused('tokens', wanted.window.endsAt - now, left())
    if (places.taken(subject) >= (limits.concurrent ?? Number.POSITIVE_INFINITY)) return refused('concurrent', 0, left())
    asked?.take()
    wanted?.take()
    return granted(left(), wanted, places.take(subject))
  }

  return { reserve }
}

/** The window that a subject's use of a rate falls into. */
function windowOf(counters: Map<number, Windows>, { windowMs }: Rate, subject: string, now: number): Window {
  const windows = counters.get(windowMs) ?? new Windows(windowMs)
  counters.set(windowMs, windows)
  return windows.current(subject, now)
}

/** What a call takes from one budget. */
class Charge {
  readonly #limit: number
  readonly #amount: number
  readonly window: Window

  constructor(rate: Rate, amount: number, window: Window) {
    this.#limit = rate.amount
    this.#amount = amount
    this.window = window
  }

  get isTooMuch(): boolean {
    return this.window.used + this.#amount > this.#limit
  }

  take(): void {
    this.window.used += this.#amount
  }

  /** Makes the charge what was really used. What is not a count leaves it as it was reserved. An ended window takes no credit. */
  correct(used: number): void {
    if (Number.isSafeInteger(used) && used >= 0) this.window.used = Math.max(0, this.window.used + used - this.#amount)
  }

  budget(now: number): Budget {
    const remaining = Math.max(0, this.#limit - this.window.used)
    return { limit: this.#limit, remaining, resetMs: this.window.used === 0 ? 0 : this.window.endsAt - now }
  }
}

type Budgets = Pick<Reservation, 'requests' | 'tokens'>

function refused(refusedBy: NonNullable<Reservation['refusedBy']>, retryAfterMs: number, left: Budgets): Reservation {
  return { refusedBy, retryAfterMs, ...left, settle() {} }
}

function granted(left: Budgets, tokens: Charge | undefined, leave: () => void): Reservation {
  let settled = false
  return {
    retryAfterMs: 0,
    ...left,
    settle(used) {
      if (settled) return
      settled = true
      leave()
      tokens?.correct(used)
    },
  }
}

/** The calls under way, per subject. */
export class Places {
  readonly #taken = new Map<string, number>()

  taken(subject: string): number {
    return this.#taken.get(subject) ?? 0
  }

  /** Takes a place; the function gives it back, once. */
  take(subject: string): () => void {
    this.#taken.set(subject, this.taken(subject) + 1)
    return () => {
      const left = this.taken(subject) - 1
      if (left > 0) this.#taken.set(subject, left)
      else this.#taken.delete(subject)
    }
  }
}

/** What a subject has used of one window. */
export interface Window {
  used: number
  /** By the monotonic clock, in milliseconds: a step of the wall clock ends no window. */
  readonly endsAt: number
}

/** Past this many subjects, ended windows are swept out before another is opened. */
const MIN_SWEEP = 1024

/** Windows of one length, one per subject, each opened by its subject's first use. */
export class Windows {
  readonly #windowMs: number
  readonly #bySubject = new Map<string, Window>()
  #sweepAt = MIN_SWEEP

  constructor(windowMs: number) {
    this.#windowMs = windowMs
  }

  /** The subject's window at `now`, a new one where the last has ended. */
  current(subject: string, now: number): Window {
    const window = this.#bySubject.get(subject)
    if (window !== undefined && window.endsAt > now) return window
    if (this.#bySubject.size >= this.#sweepAt) this.#sweep(now)
    const opened = { used: 0, endsAt: now + this.#windowMs }
    this.#bySubject.set(subject, opened)
    return opened
  }

  /** Twice the survivors make the next limit, so that sweeping costs a constant share of opening. */
  #sweep(now: number): void {
    for (const [subject, window] of this.#bySubject) if (window.endsAt <= now) this.#bySubject.delete(subject)
    this.#sweepAt = Math.max(MIN_SWEEP, 2 * this.#bySubject.size)
  }
}
