import type { Counter, Lease, LeaseRequest } from './counter.ts'
import { windowEnd } from './window.ts'

/** A holder wants so many times what it needs, so that most calls need not ask. */
const AHEAD = 32
/** More is asked for ahead of time when less than this part of the last grant is left. */
const LOW = 1 / 4
/** After a refusal, calls that need as much are refused without asking for so long, in milliseconds. */
const REFUSED_MS = 100
/** A lease is given back if it is unused for so long and is all that others could spend, in milliseconds. */
const IDLE_MS = 500

/** Of a counter, what a process has spent and may spend. Times are monotonic milliseconds, but for `windowEnd`. */
export class HeldLease {
  /** The window of `taken` and `free`: its end by the authority, in milliseconds since 1970. 0: no window is known. */
  windowEnd = 0
  /** The request to the authority that is under way. */
  asking: Promise<unknown> | undefined
  #counter: Counter
  /** Spent in the window. Places: in use. */
  #taken = 0
  /** The part of it that calls under way have reserved. */
  #reserved = 0
  /** Held and not spent. Below 0: calls have used more than they reserved. */
  #free = 0
  #granted = 0
  /** What was left for all processes at the last answer. */
  #remaining: number
  #endsAt = 0
  #usedAt = 0
  /** At the last request: what was taken and reserved, and what a call needed. */
  #told = { taken: 0, reserved: 0, amount: 0 }
  #refused: { readonly amount: number; readonly until: number } | undefined

  constructor(counter: Counter) {
    this.#counter = counter
    this.#remaining = counter.limit
  }

  has(amount: number): boolean {
    return this.#free >= amount
  }

  /** Whether so little is left that more should be asked for, although the authority has enough for the next calls. */
  get isLow(): boolean {
    return this.#free < this.#granted * LOW && this.#remaining > this.#granted * AHEAD
  }

  /** Whether the authority has just refused as much. */
  isRefused(amount: number, now: number): boolean {
    return this.#refused !== undefined && this.#refused.until > now && amount >= this.#refused.amount
  }

  /** Whether others could use what this process does not. */
  isIdle(now: number): boolean {
    return this.#free > 0 && now - this.#usedAt > IDLE_MS && this.#free >= this.#remaining
  }

  /** Whether the authority must be told of it, so that it does not expire. */
  get mustBeTold(): boolean {
    if (this.#isPlaces) return this.#taken + this.#free > 0
    return this.#free > 0 || this.#told.taken !== this.#taken || this.#told.reserved !== this.#reserved
  }

  /** Whether there is nothing to remember. */
  isOver(now: number): boolean {
    return this.#isPlaces ? !this.mustBeTold : this.#endsAt <= now
  }

  spend(amount: number, now: number): void {
    this.#taken += amount
    this.#reserved += amount
    this.#free -= amount
    this.#usedAt = now
  }

  /** A call that spent `amount` has used `used`. */
  correct(amount: number, used: number): void {
    this.#taken += used - amount
    this.#reserved -= amount
    this.#free += amount - used
  }

  /** Begins anew if the window has ended, and asks again if the limit was changed. */
  refresh(counter: Counter, now: number): void {
    if (counter.limit !== this.#counter.limit) {
      this.#free = Math.min(0, this.#free)
      this.#refused = undefined
    }
    this.#counter = counter
    if (this.#isPlaces || this.windowEnd === 0 || this.#endsAt > now) return
    this.windowEnd = 0
    this.#taken = 0
    this.#reserved = 0
    this.#free = 0
    this.#remaining = this.#counter.limit
    this.#refused = undefined
  }

  /** Lets this process spend without the authority: up to the limit by what the process itself has spent. Returns whether it may. */
  borrow(amount: number, now: number): boolean {
    if (this.#taken + Math.max(0, this.#free) + amount > this.#counter.limit) return false
    const { window } = this.#counter
    if (window !== undefined && this.windowEnd === 0) {
      this.windowEnd = windowEnd(window, Date.now())
      this.#endsAt = now + this.windowEnd - Date.now()
    }
    this.#free += amount
    return true
  }

  /** Asks for what a call of this amount needs; 0: tells of what was spent. */
  request(amount: number): LeaseRequest {
    const taken = this.#taken
    const free = Math.max(0, this.#free)
    this.#told = { taken, reserved: this.#reserved, amount }
    const { windowEnd } = this
    const counter = this.#counter
    const spent = { spent: taken, ...(this.#reserved > 0 && { reserved: this.#reserved }), keep: free }
    const amounts = this.#isPlaces ? { spent: 0, keep: taken + free } : spent
    return { counter, windowEnd, ...amounts, need: Math.max(0, amount - free), want: amount * AHEAD }
  }

  /** Gives back what is not spent. */
  requestReturn(): LeaseRequest {
    this.#free = Math.min(0, this.#free)
    return this.request(0)
  }

  /** Takes note of the authority's answer to the last request. */
  renewed(lease: Lease, now: number): void {
    const { taken, amount } = this.#told
    const spentSince = this.#taken - taken
    if (this.#isPlaces) this.#free = lease.held - this.#taken
    else {
      this.#taken = lease.spent + spentSince
      this.#free = lease.held - spentSince
      this.#told = { ...this.#told, taken: lease.spent }
    }
    if (amount > 0) this.#granted = lease.held
    this.#remaining = lease.remaining
    this.#refused = lease.granted ? undefined : { amount, until: now + REFUSED_MS }
    this.windowEnd = lease.windowEnd
    this.#endsAt = now + lease.resetMs
  }

  /** What all processes together may still spend, as far as this one knows, and the milliseconds until the window ends. */
  view(now: number): { readonly remaining: number; readonly resetMs: number } {
    const remaining = Math.max(0, this.#remaining + this.#free)
    return { remaining, resetMs: this.windowEnd === 0 ? 0 : Math.max(0, this.#endsAt - now) }
  }

  get #isPlaces(): boolean {
    return this.#counter.window === undefined
  }
}
