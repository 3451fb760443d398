import type { Counter, Lease, LeaseRequest } from './counter.ts'
import { boundsOf, windowEnd } from './window.ts'

/** A holder asks for at least this many times what it needs, so that most calls need not ask. */
const AHEAD = 32
/**
 * A holder asks for enough to last this long at the current rate, in milliseconds. A process needs up to three seconds to notice that the
 * authority does not answer. Half of a lease is left for that: no call waits meanwhile.
 */
const LASTING_MS = 8000
/** More is asked for ahead of time when less than this part of the last grant is left. */
const LOW = 1 / 2
/** Nothing is asked for ahead of time if the authority has less than this many times the last grant. */
const PLENTY = 8
/** The rate of a burst is measured as if it had taken this long, in milliseconds. */
const MIN_MEASURED_MS = 250
/** How long calls that need as much as a refused one are refused without asking, in milliseconds. */
const REFUSED_MS = 100
/** An unused lease that is all that others could spend is given back after this time, in milliseconds. */
const IDLE_MS = 500
/** An unused lease is given back after this time, in milliseconds: only leases in use are reported. */
const LONG_IDLE_MS = 10_000

const NOTHING = { spent: 0, reserved: 0, held: 0 }

/** A window that begins after a silence of the authority this long is known to be unspent, in milliseconds. A short silence may be of one process. */
const LONG_SILENCE_MS = 10_000

/** The authority does not answer: by what a process goes then. */
export interface Silence {
  /** The last answer, of any counter, in monotonic milliseconds. */
  readonly since: number
  /** The part of a limit that a process without any answer may spend. */
  readonly part: number
  /** How many processes share a limit. */
  readonly processes: number
  /** Whether the authority has counted this process among them, as the others know. */
  readonly isCounted: boolean
}

/** Of a counter, what a process has spent and may spend. Times are monotonic milliseconds, but for `windowEnd`. */
export class HeldLease {
  /** The window of `taken` and `free`: its end by the authority, in milliseconds since 1970. 0: no window is known. */
  windowEnd = 0
  /** The number of this window: what was spent in another one does not count in this. */
  window = 0
  /** The request to the authority that is under way. */
  asking: Promise<unknown> | undefined
  /** Why the authority could not answer of this counter alone. It is asked again when others are told. */
  outage: { readonly error: unknown } | undefined
  /** Whether the last need was refused, and others were asked to give back what they hold: enough for it. */
  isAskedBack = false
  #counter: Counter
  #isWanted = false
  /** Spent in the window. Places: in use. */
  #taken = 0
  /** The part of it that calls under way have reserved. */
  #reserved = 0
  /** Held and not spent. Below 0: calls have used more than they reserved. */
  #free = 0
  /** The last grant: what was held after it, and in this window, when it was, and what was taken then. */
  #granted = 0
  #grantedAt: number | undefined
  #takenAtGrant = 0
  /** What calls took per millisecond before the last request. */
  #rate = 0
  /** What was left for all processes at the last answer. */
  #remaining: number
  #endsAt = 0
  /** When the window before it ended, which is no later than when this one began. */
  #beganAfter = Number.NEGATIVE_INFINITY
  /** Whether the authority has answered in this window, and what this process then had spent and held. */
  #isAnswered = false
  #allotted = 0
  #usedAt = 0
  /** At the last request: what was taken and reserved, what a call needed, and `windowEnd`. */
  #asked = { taken: 0, reserved: 0, amount: 0, windowEnd: 0 }
  /** What the authority knew after its last answer. */
  #known = NOTHING
  #refused: { readonly amount: number; readonly until: number } | undefined

  constructor(counter: Counter) {
    this.#counter = counter
    this.#remaining = counter.limit
  }

  has(amount: number): boolean {
    return amount === 0 || this.#free >= amount
  }

  /** Whether so little is left that more should be asked for, although the authority has enough for the next calls. */
  get isLow(): boolean {
    return this.#free < this.#granted * LOW && this.#remaining > this.#granted * PLENTY
  }

  /** Whether the authority has just refused as much. */
  isRefused(amount: number, now: number): boolean {
    return this.#refused !== undefined && this.#refused.until > now && amount >= this.#refused.amount
  }

  /** Whether others could use what this process does not. */
  isIdle(now: number): boolean {
    const unusedMs = now - this.#usedAt
    return this.#free > 0 && unusedMs > (this.#free >= this.#remaining ? IDLE_MS : LONG_IDLE_MS)
  }

  /** Whether another process needs what this one holds. */
  get isWanted(): boolean {
    return this.#isWanted && this.#free > 0
  }

  /** Whether it must be reported to the authority: so that it does not expire, or since the authority knows something else. */
  get mustBeTold(): boolean {
    if (this.outage !== undefined) return true
    const { spent, reserved, held } = this.#known
    if (this.#isPlaces) return this.#taken + this.#free > 0 || held > 0
    return this.#free > 0 || held > 0 || spent !== this.#taken || reserved !== this.#reserved
  }

  /** Whether it must be reported to an authority that has forgotten everything. */
  isWorthTelling(now: number): boolean {
    return this.#isPlaces ? this.mustBeTold : this.#endsAt > now && (this.#taken !== 0 || this.#free > 0)
  }

  /** The authority may have forgotten what it was told. */
  forgotten(): void {
    this.#known = { ...NOTHING, spent: Number.NaN }
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

  /** Starts a new window if the last one has ended, and asks again if the limit was changed. */
  refresh(counter: Counter, now: number): void {
    if (counter.limit !== this.#counter.limit) {
      this.#free = Math.min(0, this.#free)
      this.#refused = undefined
    }
    this.#counter = counter
    if (!this.#isPlaces && this.windowEnd !== 0 && this.#endsAt <= now) this.#beginWindow()
  }

  /**
   * Lets this process spend what it does not hold, while the authority is silent. `refused`: the last answer said that too little is left.
   * `unknown`: enough may be left, and nobody here knows it.
   */
  borrow(amount: number, now: number, silence: Silence): 'lent' | 'refused' | 'unknown' {
    if (this.#taken + amount <= this.#boundIn(silence, now)) {
      this.#extend(amount - this.#free, now)
      return 'lent'
    }
    return this.#isPlaces || this.isSpent(amount) ? 'refused' : 'unknown'
  }

  /** Whether the last answer said that too little is left. */
  isSpent(amount: number): boolean {
    return this.#isAnswered && amount - this.#free > this.#remaining
  }

  /** Spends one, of a counter without a limit. */
  count(now: number): void {
    this.#extend(1, now)
    this.spend(1, now)
  }

  /** Asks for what a call of this amount needs; 0: only reports what was spent. */
  request(amount: number, now: number): LeaseRequest {
    const taken = this.#taken
    const free = Math.max(0, this.#free)
    const { windowEnd } = this
    this.#asked = { taken, reserved: this.#reserved, amount, windowEnd }
    const counter = this.#counter
    const spent = { spent: taken, ...(this.#reserved > 0 && { reserved: this.#reserved }), keep: free }
    const amounts = this.#isPlaces ? { spent: 0, keep: taken + free } : spent
    return {
      counter,
      windowEnd,
      ...amounts,
      need: Math.max(0, amount - free),
      want: amount === 0 ? 0 : this.#wanted(amount, now),
    }
  }

  /** Gives back what is not spent. */
  requestReturn(now: number): LeaseRequest {
    this.#free = Math.min(0, this.#free)
    return this.request(0, now)
  }

  /** Takes note of the authority's answer to the last request. Returns whether the authority had forgotten what it knew. */
  renewed(lease: Lease, now: number): boolean {
    const { amount, windowEnd } = this.#asked
    const isNewWindow = windowEnd !== 0 && windowEnd <= lease.windowEnd - lease.resetMs
    if (isNewWindow && !this.#isPlaces) this.#beginWindow()
    const spentSince = this.#taken - this.#asked.taken
    const hasForgotten = lease.known < this.#known.spent + this.#known.held
    if (this.#isPlaces) this.#free = lease.held - this.#taken
    else {
      this.#taken = lease.spent + spentSince
      this.#free = lease.held - spentSince
    }
    this.#known = { spent: lease.spent, reserved: this.#asked.reserved, held: lease.held }
    if (amount > 0) this.#granted = lease.held
    if (amount > 0 && lease.granted) {
      this.#grantedAt = now
      this.#takenAtGrant = this.#taken
    }
    this.outage = undefined
    this.isAskedBack = lease.isAskedBack
    this.#isWanted = lease.isWanted
    this.#isAnswered = true
    this.#allotted = lease.spent + lease.held
    this.#remaining = lease.remaining
    this.#refused = lease.granted ? undefined : { amount, until: now + REFUSED_MS }
    this.windowEnd = lease.windowEnd
    this.#endsAt = now + lease.resetMs
    return hasForgotten
  }

  /** What all processes together may still spend, as far as this one knows, and the milliseconds until the window ends. */
  view(now: number): { readonly remaining: number; readonly resetMs: number } {
    const remaining = Math.max(0, this.#remaining + this.#free)
    return { remaining, resetMs: this.windowEnd === 0 ? 0 : Math.max(0, this.#endsAt - now) }
  }

  #wanted(amount: number, now: number): number {
    if (this.#grantedAt !== undefined)
      this.#rate = (this.#taken - this.#takenAtGrant) / Math.max(now - this.#grantedAt, MIN_MEASURED_MS)
    return Math.max(amount * AHEAD, Math.ceil(this.#rate * LASTING_MS))
  }

  #extend(amount: number, now: number): void {
    const { window } = this.#counter
    if (window !== undefined && this.windowEnd === 0) {
      this.windowEnd = windowEnd(window, Date.now())
      this.#endsAt = now + this.windowEnd - Date.now()
    }
    this.#free += amount
  }

  /** The most that this process may have taken and hold while the authority is silent. */
  #boundIn(silence: Silence, now: number): number {
    const { limit } = this.#counter
    const share = Math.floor(limit / silence.processes)
    // Places come back: those that others have in use are not lost to them.
    if (this.#isPlaces) return Math.max(1, share)
    if (silence.isCounted && this.#hasBegunIn(silence, now)) return share
    const part = Math.floor(limit * silence.part)
    return Math.min(limit, this.#allotted + (this.#isAnswered ? Math.min(part, this.#remaining) : part))
  }

  /** Whether no process can have spent of this window with the authority, since it began when that was silent. */
  #hasBegunIn({ since }: Silence, now: number): boolean {
    const window = this.#counter.window!
    const age = window.kind === 'fixed' ? window.ms : Date.now() - boundsOf(window, Date.now()).start
    return now - since >= LONG_SILENCE_MS && Math.max(this.#beganAfter, now - age) >= since
  }

  #beginWindow(): void {
    this.#beganAfter = this.#endsAt
    this.#allotted = 0
    this.#isAnswered = false
    this.windowEnd = 0
    this.window += 1
    this.#taken = 0
    this.#reserved = 0
    this.#free = 0
    this.#grantedAt = undefined
    this.#remaining = this.#counter.limit
    this.#refused = undefined
    this.#known = NOTHING
    // What was taken before a request that is under way was taken in the window that has ended.
    this.#asked = { ...this.#asked, taken: 0, reserved: 0, windowEnd: 0 }
  }

  get #isPlaces(): boolean {
    return this.#counter.window === undefined
  }
}
