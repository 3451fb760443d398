import type { Counter, Lease, LeaseRequest } from './counter.ts'
import { boundsOf, type Window, windowEnd } from './window.ts'

/** A holder asks for at least this many times what it needs, so that most calls need not ask. */
const AHEAD = 32
/**
 * A holder asks for enough to last this long at the current rate, in milliseconds. A process needs up to three seconds to notice that the
 * authority does not answer. Half of a lease is left for that: no call waits meanwhile.
 */
const LASTING_MS = 8000
/** More is asked for ahead of time when less than this part of the last grant is left. */
const LOW = 1 / 2
/** Others have plenty if more than this many times a lease is left: else nothing is asked for ahead of time, and all is reported at once. */
const PLENTY = 8
/** The leases of all processes are small together if more than this many times as much is left. */
const SMALL = 64
/** The rate of a burst is measured as if it had taken this long, in milliseconds. */
const MIN_MEASURED_MS = 250
/** How long calls that need as much as a refused one are refused without asking, in milliseconds. */
const REFUSED_MS = 100
/** An unused lease that is all that others could spend is given back after this time, in milliseconds. */
const IDLE_MS = 500
/** An unused lease is given back after this time, in milliseconds: only leases in use are reported. */
const LONG_IDLE_MS = 10_000
/** A small one is kept, and not reported, if its window ends within this time, in milliseconds: a key that rested need not ask again. */
const KEPT_MS = 60_000
/** One of which others have plenty is reported this often, in milliseconds: before it expires. */
const PLENTY_TELL_MS = 8_000

/** What the authority knows of a lease. */
interface Known {
  readonly spent: number
  readonly reserved: number
  readonly held: number
}

const NOTHING: Known = { spent: 0, reserved: 0, held: 0 }

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
export abstract class HeldLease {
  /** The number of the window: what was spent in another one does not count in this. */
  window = 0
  /** The request to the authority that is under way. */
  asking: Promise<unknown> | undefined
  /** Why the authority could not answer of this counter alone. It is asked again when others are told. */
  outage: { readonly error: unknown } | undefined
  /** Whether the last need was refused, and others were asked to give back what they hold: enough for it. */
  isAskedBack = false
  protected counter: Counter
  /** Spent in the window, or in use. */
  protected taken = 0
  /** Held and not spent. Below 0: calls have used more than they reserved. */
  protected free = 0
  /** What was left for all processes at the last answer. */
  protected remaining: number
  /** Whether the authority has answered in this window. */
  protected isAnswered = false
  /** What the authority knew after its last answer; undefined: it may have lost that. */
  protected known: Known | undefined = NOTHING
  /** At the last request: what was taken, and what a call needed. */
  protected asked = { taken: 0, amount: 0 }
  protected grantedAt: number | undefined
  protected refused: { readonly amount: number; readonly until: number } | undefined
  #isWanted = false
  /** The last grant: what was held after it, and what was taken then. */
  #granted = 0
  #takenAtGrant = 0
  /** What calls took per millisecond before the last request. */
  #rate = 0
  #usedAt = 0

  constructor(counter: Counter) {
    this.counter = counter
    this.remaining = counter.limit
  }

  /** Whether it must be reported to the authority: so that it does not expire, or since the authority knows something else. */
  abstract get mustBeTold(): boolean
  /** Whether that can wait. `processes`: how many share the limit. */
  abstract mayWait(now: number, processes: number): boolean
  /** Whether it must be reported to an authority that has forgotten everything. */
  abstract isWorthTelling(now: number): boolean
  /** Whether there is nothing to remember. */
  abstract isOver(now: number): boolean
  /** The milliseconds until the window ends; 0 if it has none, or none that is known. */
  protected abstract resetMs(now: number): number
  /** Whether it is kept although it is not used. */
  protected abstract isKept(now: number, processes: number): boolean
  /** What is reported of it. */
  protected abstract report(): Pick<LeaseRequest, 'windowEnd' | 'spent' | 'reserved' | 'keep'>
  /** Takes over what the authority counts. */
  protected abstract update(lease: Lease, now: number): void
  /** The most that this process may have taken and hold while the authority is silent. */
  protected abstract boundIn(silence: Silence, now: number): number

  has(amount: number): boolean {
    return amount === 0 || this.free >= amount
  }

  /** Whether so little is left that more should be asked for, although the authority has enough for the next calls. */
  get isLow(): boolean {
    return this.free < this.#granted * LOW && this.remaining > this.#granted * PLENTY
  }

  /** Whether the authority has just refused as much. */
  isRefused(amount: number, now: number): boolean {
    return this.refused !== undefined && this.refused.until > now && amount >= this.refused.amount
  }

  /** Whether others could use what this process does not. `processes`: how many they are, this one included. */
  isIdle(now: number, processes: number): boolean {
    const unusedMs = now - this.#usedAt
    return this.free > 0 && unusedMs > (this.free >= this.remaining ? IDLE_MS : LONG_IDLE_MS) && !this.isKept(now, processes)
  }

  /** Whether another process needs what this one holds. */
  get isWanted(): boolean {
    return this.#isWanted && this.free > 0
  }

  /** The authority may have lost what it was told. */
  forgotten(): void {
    this.known = undefined
  }

  spend(amount: number, now: number): void {
    this.taken += amount
    this.free -= amount
    this.#usedAt = now
  }

  /** A call that spent `amount` has used `used`. */
  correct(amount: number, used: number): void {
    this.taken += used - amount
    this.free += amount - used
  }

  /** Asks again if the limit was changed. */
  refresh(counter: Counter, _now: number): void {
    if (counter.limit !== this.counter.limit) {
      this.free = Math.min(0, this.free)
      this.refused = undefined
    }
    this.counter = counter
  }

  /**
   * Lets this process spend what it does not hold, while the authority is silent. `refused`: the last answer said that too little is left.
   * `unknown`: enough may be left, and nobody here knows it.
   */
  borrow(amount: number, now: number, silence: Silence): 'lent' | 'refused' | 'unknown' {
    if (this.taken + amount > this.boundIn(silence, now)) return this.isSpent(amount) ? 'refused' : 'unknown'
    this.free = amount
    return 'lent'
  }

  /** Whether the last answer said that too little is left. */
  isSpent(amount: number): boolean {
    return this.isAnswered && amount - this.free > this.remaining
  }

  /** Asks for what a call of this amount needs; 0: only reports what was spent. */
  request(amount: number, now: number): LeaseRequest {
    this.asked = { taken: this.taken, amount }
    const need = Math.max(0, amount - Math.max(0, this.free))
    return { counter: this.counter, ...this.report(), need, want: amount === 0 ? 0 : this.#wanted(amount, now) }
  }

  /** Gives back what is not spent. */
  requestReturn(now: number): LeaseRequest {
    this.free = Math.min(0, this.free)
    return this.request(0, now)
  }

  /** Takes note of the authority's answer to the last request. */
  renewed(lease: Lease, now: number): void {
    const { amount } = this.asked
    this.update(lease, now)
    if (amount > 0) this.#granted = lease.held
    if (amount > 0 && lease.granted) {
      this.grantedAt = now
      this.#takenAtGrant = this.taken
    }
    this.outage = undefined
    this.isAskedBack = lease.isAskedBack
    this.#isWanted = lease.isWanted
    this.isAnswered = true
    this.remaining = lease.remaining
    this.refused = lease.granted ? undefined : { amount, until: now + REFUSED_MS }
  }

  /** What all processes together may still spend, as far as this one knows, and the milliseconds until the window ends. */
  view(now: number): { readonly remaining: number; readonly resetMs: number } {
    return { remaining: Math.max(0, this.remaining + this.free), resetMs: this.resetMs(now) }
  }

  #wanted(amount: number, now: number): number {
    if (this.grantedAt !== undefined)
      this.#rate = (this.taken - this.#takenAtGrant) / Math.max(now - this.grantedAt, MIN_MEASURED_MS)
    return Math.max(amount * AHEAD, Math.ceil(this.#rate * LASTING_MS))
  }
}

/** A lease of places: they come back. */
export class HeldPlaces extends HeldLease {
  get mustBeTold(): boolean {
    return this.outage !== undefined || this.taken + this.free > 0 || (this.known?.held ?? 0) > 0
  }

  mayWait(): boolean {
    return false
  }

  isWorthTelling(): boolean {
    return this.mustBeTold
  }

  isOver(): boolean {
    return !this.mustBeTold
  }

  override borrow(amount: number, now: number, silence: Silence): 'lent' | 'refused' {
    return super.borrow(amount, now, silence) === 'lent' ? 'lent' : 'refused'
  }

  protected resetMs(): number {
    return 0
  }

  protected isKept(): boolean {
    return false
  }

  protected report() {
    return { windowEnd: 0, spent: 0, keep: this.taken + Math.max(0, this.free) }
  }

  protected update({ held }: Lease): void {
    this.free = held - this.taken
    this.known = { ...NOTHING, held }
  }

  /** Those that others have in use are not lost to them. */
  protected boundIn({ processes }: Silence): number {
    return Math.max(1, Math.floor(this.counter.limit / processes))
  }
}

/** A lease of an amount, of which each window has its own. */
export class HeldAmount extends HeldLease {
  readonly #window: Window
  /** The end of the window of `taken` and `free`, by the authority, in milliseconds since 1970. 0: no window is known. */
  #windowEnd = 0
  #endsAt = 0
  /** When the window before it ended, which is no later than when this one began. */
  #beganAfter = Number.NEGATIVE_INFINITY
  /** The part of `taken` that calls under way have reserved. */
  #reserved = 0
  /** At the last request: what was reserved, and the end of the window. */
  #reported = { reserved: 0, windowEnd: 0 }
  /** What this process had spent and held when the authority answered last in this window. */
  #allotted = 0
  #toldAt = 0

  constructor(counter: Counter, window: Window) {
    super(counter)
    this.#window = window
  }

  get mustBeTold(): boolean {
    if (this.outage !== undefined || this.known === undefined) return true
    const { spent, reserved, held } = this.known
    return this.free > 0 || held > 0 || spent !== this.taken || reserved !== this.#reserved
  }

  /** What it has spent of what it held is no news to others. But the ledger settles the budgets of processes that are silent. */
  mayWait(now: number, processes: number): boolean {
    if (this.known === undefined || this.outage !== undefined || this.#window.kind !== 'fixed') return false
    const isCounted = this.taken + this.free <= this.known.spent + this.known.held
    if (!isCounted || this.free <= 0 || this.remaining <= this.free * PLENTY) return false
    return this.isKept(now, processes) || now - this.#toldAt < PLENTY_TELL_MS
  }

  isWorthTelling(now: number): boolean {
    return this.#endsAt > now && (this.taken !== 0 || this.free > 0)
  }

  isOver(now: number): boolean {
    return this.#endsAt <= now
  }

  override spend(amount: number, now: number): void {
    super.spend(amount, now)
    this.#reserved += amount
  }

  override correct(amount: number, used: number): void {
    super.correct(amount, used)
    this.#reserved -= amount
  }

  /** Starts a new window too if the last one has ended. */
  override refresh(counter: Counter, now: number): void {
    super.refresh(counter, now)
    if (this.#windowEnd !== 0 && this.#endsAt <= now) this.#beginWindow()
  }

  override borrow(amount: number, now: number, silence: Silence): 'lent' | 'refused' | 'unknown' {
    const answer = super.borrow(amount, now, silence)
    if (answer === 'lent') this.#expectEnd(now)
    return answer
  }

  override renewed(lease: Lease, now: number): void {
    const { windowEnd } = this.#reported
    if (windowEnd !== 0 && windowEnd <= lease.windowEnd - lease.resetMs) this.#beginWindow()
    super.renewed(lease, now)
  }

  protected resetMs(now: number): number {
    return this.#windowEnd === 0 ? 0 : Math.max(0, this.#endsAt - now)
  }

  protected report() {
    const reserved = this.#reserved
    this.#reported = { reserved, windowEnd: this.#windowEnd }
    return {
      windowEnd: this.#windowEnd,
      spent: this.taken,
      ...(reserved > 0 && { reserved }),
      keep: Math.max(0, this.free),
    }
  }

  protected update({ spent, held, windowEnd, resetMs }: Lease, now: number): void {
    const spentSince = this.taken - this.asked.taken
    this.taken = spent + spentSince
    this.free = held - spentSince
    this.known = { spent, reserved: this.#reported.reserved, held }
    this.#allotted = spent + held
    this.#windowEnd = windowEnd
    this.#endsAt = now + resetMs
    this.#toldAt = now
  }

  protected isKept(now: number, processes: number): boolean {
    const isShort = this.#window.kind === 'fixed' && this.#endsAt > now && this.#endsAt - now <= KEPT_MS
    return isShort && this.remaining > this.free * processes * SMALL
  }

  protected boundIn(silence: Silence, now: number): number {
    const { limit } = this.counter
    if (silence.isCounted && this.#hasBegunIn(silence, now)) return Math.floor(limit / silence.processes)
    const part = Math.floor(limit * silence.part)
    return Math.min(limit, this.#allotted + (this.isAnswered ? Math.min(part, this.remaining) : part))
  }

  /** Whether no process can have spent of this window with the authority, since it began when that was silent. */
  #hasBegunIn({ since }: Silence, now: number): boolean {
    const window = this.#window
    const age = window.kind === 'fixed' ? window.ms : Date.now() - boundsOf(window, Date.now()).start
    return now - since >= LONG_SILENCE_MS && Math.max(this.#beganAfter, now - age) >= since
  }

  /** When the window ends, by the clock of this process if the authority has not said it. */
  #expectEnd(now: number): void {
    if (this.#windowEnd !== 0) return
    this.#windowEnd = windowEnd(this.#window, Date.now())
    this.#endsAt = now + this.#windowEnd - Date.now()
  }

  #beginWindow(): void {
    this.window += 1
    this.#beganAfter = this.#endsAt
    this.#windowEnd = 0
    this.#allotted = 0
    this.isAnswered = false
    this.taken = 0
    this.#reserved = 0
    this.free = 0
    this.grantedAt = undefined
    this.remaining = this.counter.limit
    this.refused = undefined
    this.known = NOTHING
    // What was taken before a request that is under way was taken in the window that has ended.
    this.asked = { ...this.asked, taken: 0 }
    this.#reported = { reserved: 0, windowEnd: 0 }
  }
}

/** The lease of a counter that a process begins with: it holds nothing. */
export const newLease = (counter: Counter): HeldLease =>
  counter.window === undefined ? new HeldPlaces(counter) : new HeldAmount(counter, counter.window)
