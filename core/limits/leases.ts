import { setTimeout as delay } from 'node:timers/promises'
import { withTimeout } from '../async/timeout.ts'
import { CodedError } from '../errors.ts'
import type { QuotaAuthority } from './authority.ts'
import { type Counter, type LeaseRequest, REMEMBERED_MS } from './counter.ts'
import { type HeldLease, newLease, type Silence } from './lease.ts'

/** How long the authority may take to answer, in milliseconds. After that it is as if it could not be reached. */
const ANSWER_MS = 1000
/** How often leases are renewed, in milliseconds: several times before they expire. */
const TELL_MS = 2000
/** How often unused leases are looked for, and an authority that is away is asked again, in milliseconds. */
const IDLE_CHECK_MS = 250
/** How often all that was spent is reported to the authority, in milliseconds: it must not take this process for ended. */
const TELL_ALL_MS = REMEMBERED_MS / 3
/** How long a large call waits for what other processes hold and do not use, in milliseconds: they learn of it when they tell. */
const ASKED_BACK_MS = TELL_MS + 2 * IDLE_CHECK_MS
/** The most leases in one request. */
const MAX_ASKED = 500
/** Each process increases its own part of this counter all the time. An authority that has lost anything has lost some of that. */
const WITNESS: Counter = { id: 'witness', limit: Number.MAX_SAFE_INTEGER, window: { kind: 'fixed', ms: 86_400_000 } }
/**
 * The part of a limit that the first processes of a gateway may spend together while the authority is silent and they know nothing. Each
 * successor has half of what its predecessor had: all processes of a gateway have a tenth, however often they are replaced.
 */
const UNKNOWN_PART = 1 / 20
/** From this number of leases on, a new one first removes those whose window has ended. */
const MIN_SWEEP = 1024

/** An amount of a counter that a call needs. */
export interface Charge {
  readonly counter: Counter
  /** An integer from 0. */
  readonly amount: number
  /** While the authority is silent, and this process does not hold enough: `refuse` the call, or `serve` it within the bounds of `borrow`. */
  readonly onOutage: 'serve' | 'refuse'
}

/** What a call took. */
export interface Taken {
  /** Replaces the amount of a charge by what was used: its place in `charges`. Once for each charge. */
  correct(index: number, used: number): void
}

/** Why nothing was taken. */
export interface Refusal {
  readonly refused: Charge
}

/** The authority cannot be reached, and a limit says that calls are then refused. */
export class AuthorityUnavailable extends Error {
  override readonly name = 'AuthorityUnavailable'
}

/** Where a process is among those of its gateway. */
export interface Place {
  /** How many processes serve calls. */
  readonly processes: number
  /** How many had the place of this one before it. */
  readonly predecessors: number
}

const ALONE: Place = { processes: 1, predecessors: 0 }

/** The options of `Leases`. */
export interface LeasesOptions {
  /** Asks the authority, in the name of this process. */
  renew(requests: readonly LeaseRequest[]): ReturnType<QuotaAuthority['renew']>
  /** Called after each request to the authority, with the error if it did not answer. */
  onAsked(error: unknown): void
  /** Monotonic milliseconds. */
  readonly clock?: () => number
  /** Absent: it is the only process. */
  readonly place?: Place
}

type Answer = 'granted' | 'refused' | { readonly error: unknown }

/** Spends from leases of counters, and renews them. While a lease lasts, calls ask nobody. */
export class Leases {
  readonly #options: LeasesOptions
  readonly #clock: () => number
  readonly #leases = new Map<string, HeldLease>()
  /** Those that may have to be reported to the authority. The others are only remembered. */
  readonly #active = new Set<HeldLease>()
  #sweepAt = MIN_SWEEP
  /** Why the authority did not answer the last request. Until it answers again, no call waits for it. */
  #outage: { readonly error: unknown } | undefined
  /** When the authority answered last. */
  #answeredAt: number
  /** The processes that the authority counted at the last answer, this one included; 0: it does not know this one. */
  #counted = 0
  #telling: Promise<void> | undefined
  readonly #timers: readonly NodeJS.Timeout[]

  constructor(options: LeasesOptions) {
    this.#options = options
    this.#clock = options.clock ?? (() => performance.now())
    this.#answeredAt = this.#clock()
    this.#timers = [
      setInterval(() => (this.#outage === undefined ? this.#giveBackIdle() : this.#tell()), IDLE_CHECK_MS).unref(),
      setInterval(() => this.#tell(), TELL_MS).unref(),
      setInterval(() => this.#tellAll(), TELL_ALL_MS).unref(),
    ]
  }

  /**
   * Takes all charges, or none. Synchronous while the leases suffice. Rejects with AuthorityUnavailable. A counter must not be twice among
   * the charges.
   */
  take(charges: readonly Charge[]): Taken | Refusal | Promise<Taken | Refusal> {
    const now = this.#clock()
    const leases = charges.map(({ counter }) => this.#leaseOf(counter, now))
    const suffice = leases.every((lease, index) => lease.has(charges[index]!.amount))
    return suffice ? this.#spend(charges, leases, now) : this.#obtainAll(charges)
  }

  /** What may still be spent of a counter, as far as this process knows, and the milliseconds until its window ends. */
  view(counter: Counter): ReturnType<HeldLease['view']> {
    const now = this.#clock()
    return this.#leaseOf(counter, now).view(now)
  }

  /** Gives everything back. Nothing may be taken after this. */
  async close(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer)
    await this.#telling
    await Promise.all(Array.from(this.#leases.values(), ({ asking }) => asking))
    await this.#askOfMany([...this.#leases.values()], (lease) => lease.requestReturn(this.#clock()))
  }

  /** `leases`: those of the charges, which suffice. */
  #spend(charges: readonly Charge[], leases: readonly HeldLease[], now: number): Taken {
    const windows = leases.map((lease, index) => {
      const { amount } = charges[index]!
      lease.spend(amount, now)
      this.#active.add(lease)
      if (lease.isLow && lease.asking === undefined && this.#outage === undefined) void this.#askForMore(lease, amount)
      return lease.window
    })
    return {
      correct: (index, used) => {
        const lease = leases[index]!
        // What was taken in a window that has ended is not credited to the next.
        if (lease.window !== windows[index]) return
        lease.correct(charges[index]!.amount, used)
        this.#active.add(lease)
      },
    }
  }

  /** Obtains what is missing, one counter after the other: what a refused call has obtained stays for the next one. */
  async #obtainAll(charges: readonly Charge[]): Promise<Taken | Refusal> {
    for (;;) {
      const now = this.#clock()
      const leases = charges.map(({ counter }) => this.#leaseOf(counter, now))
      const missing = leases.findIndex((lease, index) => !lease.has(charges[index]!.amount))
      if (missing < 0) return this.#spend(charges, leases, now)
      if (!(await this.#obtain(leases[missing]!, charges[missing]!))) return { refused: charges[missing]! }
    }
  }

  /** Resolves to false if there is not enough. */
  async #obtain(lease: HeldLease, charge: Charge): Promise<boolean> {
    const { amount } = charge
    const silent = this.#outage ?? lease.outage
    if (silent !== undefined) return this.#obtainAlone(lease, charge, silent.error)
    if (lease.asking !== undefined) {
      await lease.asking
      return true
    }
    if (lease.isRefused(amount, this.#clock())) return false
    let answer = await this.#askForMore(lease, amount)
    for (let waited = 0; answer === 'refused' && lease.isAskedBack && waited < ASKED_BACK_MS; waited += IDLE_CHECK_MS) {
      await delay(IDLE_CHECK_MS)
      while (lease.asking !== undefined) await lease.asking
      answer = await this.#askForMore(lease, amount)
    }
    return typeof answer === 'string' ? answer === 'granted' : this.#obtainAlone(lease, charge, answer.error)
  }

  #obtainAlone(lease: HeldLease, { amount, onOutage }: Charge, cause: unknown): boolean {
    if (onOutage === 'refuse' && lease.isSpent(amount)) return false
    const result = onOutage === 'refuse' ? 'unknown' : lease.borrow(amount, this.#clock(), this.#silence)
    if (result === 'unknown') throw new AuthorityUnavailable('the authority of the limit cannot be reached', { cause })
    return result === 'lent'
  }

  get #silence(): Silence {
    const { processes: own, predecessors } = this.#options.place ?? ALONE
    const processes = Math.max(own, this.#counted)
    const part = UNKNOWN_PART / 2 ** predecessors / processes
    return { since: this.#answeredAt, part, processes, isCounted: this.#counted > 0 }
  }

  #askForMore(lease: HeldLease, amount: number): Promise<Answer> {
    return this.#ask([lease], () => lease.request(amount, this.#clock()))
  }

  /** Resolves when the authority has answered: of one lease, whether it has what it needs. */
  async #ask(leases: readonly HeldLease[], requestOf: (lease: HeldLease) => LeaseRequest): Promise<Answer> {
    if (leases.length === 0) return 'granted'
    const asking = this.#exchange(leases, leases.map(requestOf))
    for (const lease of leases) lease.asking = asking
    const answer = await asking
    for (const lease of leases) lease.asking = undefined
    const wanted = leases.filter(({ isWanted }) => isWanted)
    if (wanted.length > 0) void this.#askOfMany(wanted, (lease) => lease.requestReturn(this.#clock()))
    return answer
  }

  /** Sends the requests of many leases one after the other, until the authority does not answer. */
  async #askOfMany(leases: readonly HeldLease[], requestOf: (lease: HeldLease) => LeaseRequest): Promise<void> {
    for (let first = 0; first < leases.length; first += MAX_ASKED) {
      const some = leases.slice(first, first + MAX_ASKED).filter(({ asking }) => asking === undefined)
      const answer = await this.#ask(some, requestOf)
      if (typeof answer !== 'string') return
    }
  }

  async #exchange(leases: readonly HeldLease[], requests: readonly LeaseRequest[]): Promise<Answer> {
    const { renew, onAsked } = this.#options
    let isGranted = true
    let hasForgotten = false
    try {
      const answers = await withTimeout(ANSWER_MS, renew(requests))
      const now = this.#clock()
      this.#answeredAt = now
      for (const [index, lease] of leases.entries()) {
        const answer = answers[index]!
        this.#active.add(lease)
        if (answer === null) {
          lease.outage = { error: new CodedError('COUNTER_UNCHANGEABLE', 'the counter cannot be changed') }
          continue
        }
        if (lease === this.#leases.get(WITNESS.id)) this.#counted = answer.holders
        hasForgotten = lease.renewed(answer, now) || hasForgotten
        isGranted &&= answer.granted
      }
      onAsked(undefined)
      this.#outage = undefined
      if (hasForgotten) this.#tellAll()
      const silent = leases.find(({ outage }) => outage !== undefined)
      return silent?.outage ?? (isGranted ? 'granted' : 'refused')
    } catch (error) {
      onAsked(error)
      this.#outage = { error }
      return { error }
    }
  }

  #giveBackIdle(): void {
    const now = this.#clock()
    const idle = this.#unasked().filter((lease) => lease.isIdle(now))
    void this.#askOfMany(idle, (lease) => lease.requestReturn(this.#clock()))
  }

  /** Tells the authority what it does not know yet. */
  #tell(): void {
    this.#telling ??= this.#tellOfActive().finally(() => {
      this.#telling = undefined
    })
  }

  async #tellOfActive(): Promise<void> {
    for (const lease of this.#active) if (!lease.mustBeTold) this.#active.delete(lease)
    this.#testify()
    await this.#askOfMany(this.#unasked(), (lease) => lease.request(0, this.#clock()))
  }

  /** Tells the authority all, whether it knows it or not. */
  #tellAll(): void {
    const now = this.#clock()
    for (const lease of this.#leases.values()) {
      if (!lease.isWorthTelling(now)) continue
      lease.forgotten()
      this.#active.add(lease)
    }
    this.#tell()
  }

  /** Spends of the witness, if there is anything that the authority could forget. */
  #testify(): void {
    const now = this.#clock()
    const witness = this.#leaseOf(WITNESS, now)
    if (!this.#leases.values().some((lease) => lease !== witness && lease.isWorthTelling(now))) return
    witness.count(now)
    this.#active.add(witness)
  }

  #unasked(): readonly HeldLease[] {
    return [...this.#active].filter(({ asking }) => asking === undefined)
  }

  #leaseOf(counter: Counter, now: number): HeldLease {
    let lease = this.#leases.get(counter.id)
    if (lease === undefined) {
      if (this.#leases.size >= this.#sweepAt) this.#sweep(now)
      lease = newLease(counter)
      this.#leases.set(counter.id, lease)
    }
    lease.refresh(counter, now)
    return lease
  }

  /** The next sweep is due at twice the remaining leases, so that its amortised cost for each new one is constant. */
  #sweep(now: number): void {
    for (const [id, lease] of this.#leases) if (lease.asking === undefined && lease.isOver(now)) this.#leases.delete(id)
    this.#sweepAt = Math.max(MIN_SWEEP, 2 * this.#leases.size)
  }
}
