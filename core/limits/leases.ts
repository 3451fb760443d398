import { setTimeout as delay } from 'node:timers/promises'
import { withTimeout } from '../async/timeout.ts'
import { CodedError } from '../errors.ts'
import type { QuotaAuthority } from './authority.ts'
import { type Counter, type Lease, type LeaseRequest, REMEMBERED_MS } from './counter.ts'
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
/**
 * The part of a limit that the first processes of a gateway may spend together while the authority is silent and they know nothing. Each
 * successor has half of what its predecessor had: all processes of a gateway have a tenth, however often they are replaced.
 */
const UNKNOWN_PART = 1 / 20
/** From this number of leases on, a new one first removes those whose window has ended. */
const MIN_SWEEP = 1024

/** An amount of a counter that a call needs. */
export interface Debit {
  readonly counter: Counter
  /** An integer from 0. */
  readonly amount: number
  /** While the authority is silent, and this process does not hold enough: `refuse` the call, or `serve` it within the bounds of `borrow`. */
  readonly onOutage: 'serve' | 'refuse'
}

/** What a call took. */
export interface Taken {
  /** Replaces the amount of a debit by what was used: its place in `debits`. Once for each debit. */
  correct(index: number, used: number): void
}

/** Why nothing was taken. */
export interface Refusal {
  readonly refused: Debit
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

/** A debit for which a lease has too little. */
interface Need {
  readonly lease: HeldLease
  readonly debit: Debit
}

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
  /** Of the last answer. A new one: the authority may have lost what it was told. */
  #epoch: string | undefined
  /** The processes that the authority counted at the last answer, this one included; 0: it does not know this one. */
  #counted = 0
  #telling: Promise<void> | undefined
  readonly #tellingAll: NodeJS.Timeout
  /** Only while there is something to give back or to tell, or the authority is silent: a gateway at rest sleeps. */
  #timers: readonly NodeJS.Timeout[] = []
  #isClosed = false

  constructor(options: LeasesOptions) {
    this.#options = options
    this.#clock = options.clock ?? (() => performance.now())
    this.#answeredAt = this.#clock()
    this.#tellingAll = setInterval(() => this.#tellAll(), TELL_ALL_MS).unref()
  }

  /**
   * Takes all debits, or none. Synchronous while the leases suffice. Rejects with AuthorityUnavailable. A counter must not be twice among
   * the debits.
   */
  take(debits: readonly Debit[]): Taken | Refusal | Promise<Taken | Refusal> {
    const now = this.#clock()
    const leases = debits.map(({ counter }) => this.#leaseOf(counter, now))
    const suffice = leases.every((lease, index) => lease.has(debits[index]!.amount))
    return suffice ? this.#spend(debits, leases, now) : this.#obtainAll(debits)
  }

  /** What may still be spent of a counter, as far as this process knows, and the milliseconds until its window ends. */
  view(counter: Counter): ReturnType<HeldLease['view']> {
    const now = this.#clock()
    return this.#leaseOf(counter, now).view(now)
  }

  /** Gives everything back. Nothing may be taken after this. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearInterval(this.#tellingAll)
    this.#rest()
    await this.#telling
    await Promise.all(Array.from(this.#leases.values(), ({ asking }) => asking))
    await this.#askOfMany([...this.#leases.values()], (lease) => lease.requestReturn(this.#clock()))
  }

  /** `leases`: those of the debits, which suffice. */
  #spend(debits: readonly Debit[], leases: readonly HeldLease[], now: number): Taken {
    const low: Need[] = []
    const windows = leases.map((lease, index) => {
      const debit = debits[index]!
      lease.spend(debit.amount, now)
      this.#activate(lease)
      if (lease.isLow && lease.asking === undefined) low.push({ lease, debit })
      return lease.window
    })
    if (low.length > 0 && this.#outage === undefined) void this.#askForMore(low)
    return {
      correct: (index, used) => {
        const lease = leases[index]!
        // What was taken in a window that has ended is not credited to the next.
        if (lease.window !== windows[index]) return
        lease.correct(debits[index]!.amount, used)
        this.#activate(lease)
      },
    }
  }

  /** Obtains all that is missing in one request: what a refused call has obtained stays for the next one. */
  async #obtainAll(debits: readonly Debit[]): Promise<Taken | Refusal> {
    const asked = new Set<HeldLease>()
    for (let waited = 0; ; ) {
      const now = this.#clock()
      const leases = debits.map(({ counter }) => this.#leaseOf(counter, now))
      const unknown: Need[] = []
      let isAskedBack = false
      for (const [index, debit] of debits.entries()) {
        const lease = leases[index]!
        if (lease.has(debit.amount)) continue
        const answer = this.#answerOf({ lease, debit }, now)
        if (answer === 'unknown') unknown.push({ lease, debit })
        else if (answer === 'refused') {
          if (!lease.isAskedBack || !asked.has(lease) || waited >= ASKED_BACK_MS) return { refused: debit }
          isAskedBack = true
        }
      }
      if (isAskedBack) {
        await delay(IDLE_CHECK_MS)
        waited += IDLE_CHECK_MS
      } else if (unknown.length > 0) await this.#askOnce(unknown, asked)
      else return this.#spend(debits, leases, now)
    }
  }

  /** What is known of a need; `unknown`: the authority must be asked. Throws if it is silent, and nobody here knows what is left. */
  #answerOf({ lease, debit: { amount, onOutage } }: Need, now: number): 'lent' | 'refused' | 'unknown' {
    const silent = this.#outage ?? lease.outage
    if (silent === undefined) return lease.isRefused(amount, now) ? 'refused' : 'unknown'
    if (onOutage === 'refuse' && lease.isSpent(amount)) return 'refused'
    const answer = onOutage === 'refuse' ? 'unknown' : lease.borrow(amount, now, this.#silence)
    if (answer !== 'unknown') return answer
    throw new AuthorityUnavailable('the authority of the limit cannot be reached', { cause: silent.error })
  }

  /** Asks for those that nobody else asks for, which it adds to `asked`; if there is none, waits for the answer to another call. */
  async #askOnce(needs: readonly Need[], asked: Set<HeldLease>): Promise<void> {
    const unasked = needs.filter(({ lease }) => lease.asking === undefined)
    for (const { lease } of unasked) asked.add(lease)
    await (unasked.length > 0 ? this.#askForMore(unasked) : needs[0]!.lease.asking)
  }

  get #place(): Place {
    const { processes, predecessors } = this.#options.place ?? ALONE
    return { processes: Math.max(processes, this.#counted), predecessors }
  }

  get #silence(): Silence {
    const { processes, predecessors } = this.#place
    const part = UNKNOWN_PART / 2 ** predecessors / processes
    return { since: this.#answeredAt, part, processes, isCounted: this.#counted > 0 }
  }

  #askForMore(needs: readonly Need[]): Promise<void> {
    const amounts = new Map(needs.map(({ lease, debit }) => [lease, debit.amount]))
    return this.#ask([...amounts.keys()], (lease) => lease.request(amounts.get(lease)!, this.#clock()))
  }

  /** Resolves when the authority has answered, or does not answer. */
  async #ask(leases: readonly HeldLease[], requestOf: (lease: HeldLease) => LeaseRequest): Promise<void> {
    if (leases.length === 0) return
    const asking = this.#exchange(leases, leases.map(requestOf))
    for (const lease of leases) lease.asking = asking
    await asking
    for (const lease of leases) lease.asking = undefined
    const wanted = leases.filter(({ isWanted }) => isWanted)
    if (wanted.length > 0) void this.#askOfMany(wanted, (lease) => lease.requestReturn(this.#clock()))
  }

  /** Sends the requests of many leases one after the other, until the authority does not answer. */
  async #askOfMany(leases: readonly HeldLease[], requestOf: (lease: HeldLease) => LeaseRequest): Promise<void> {
    for (let first = 0; first < leases.length; first += MAX_ASKED) {
      const some = leases.slice(first, first + MAX_ASKED).filter(({ asking }) => asking === undefined)
      await this.#ask(some, requestOf)
      if (this.#outage !== undefined) return
    }
  }

  async #exchange(leases: readonly HeldLease[], requests: readonly LeaseRequest[]): Promise<void> {
    const { renew, onAsked } = this.#options
    try {
      const answers = await withTimeout(ANSWER_MS, renew(requests))
      const now = this.#clock()
      this.#answeredAt = now
      const told = answers.find((answer) => answer !== null)
      const mayHaveLost = told !== undefined && this.#isOfNewEpoch(told)
      if (mayHaveLost) this.#forget(now)
      for (const [index, lease] of leases.entries()) {
        const answer = answers[index]!
        this.#activate(lease)
        if (answer === null) lease.outage = { error: new CodedError('COUNTER_UNCHANGEABLE', 'the counter cannot be changed') }
        else lease.renewed(answer, now)
      }
      onAsked(undefined)
      this.#outage = undefined
      if (mayHaveLost) this.#tell()
    } catch (error) {
      onAsked(error)
      this.#outage = { error }
      this.#watch()
    }
  }

  #isOfNewEpoch({ epoch, holders }: Lease): boolean {
    const isNew = this.#epoch !== undefined && epoch !== this.#epoch
    this.#epoch = epoch
    this.#counted = holders
    return isNew
  }

  /** From now on it is given back when it is idle, and the authority learns what it has spent. */
  #activate(lease: HeldLease): void {
    this.#active.add(lease)
    this.#watch()
  }

  #watch(): void {
    if (this.#timers.length > 0 || this.#isClosed) return
    this.#timers = [
      setInterval(() => (this.#outage === undefined ? this.#giveBackIdle() : this.#tell()), IDLE_CHECK_MS).unref(),
      setInterval(() => this.#tell(), TELL_MS).unref(),
    ]
  }

  #rest(): void {
    for (const timer of this.#timers) clearInterval(timer)
    this.#timers = []
  }

  #giveBackIdle(): void {
    const now = this.#clock()
    const { processes } = this.#place
    const idle = this.#unasked((lease) => lease.isIdle(now, processes))
    void this.#askOfMany(idle, (lease) => lease.requestReturn(this.#clock()))
  }

  /** Tells the authority what it does not know yet. */
  #tell(): void {
    this.#telling ??= this.#tellOfActive().finally(() => {
      this.#telling = undefined
      if (this.#active.size === 0 && this.#outage === undefined) this.#rest()
    })
  }

  /** An answer of another epoch than the one before: the authority may have lost what it was told until then, so all is told again. */
  async #tellOfActive(): Promise<void> {
    let epoch: string | undefined
    do {
      epoch = this.#epoch
      await this.#tellOnce()
    } while (this.#epoch !== epoch && this.#outage === undefined)
  }

  /** At least of one that it could have lost, since the answer has the epoch; after an outage of any, since the answer ends that. */
  async #tellOnce(): Promise<void> {
    const now = this.#clock()
    for (const lease of this.#active) {
      const isDone = !lease.mustBeTold || (lease.isOver(now) && lease.outage === undefined)
      if (isDone) this.#active.delete(lease)
    }
    const { processes } = this.#place
    const due = this.#unasked((lease) => !lease.mayWait(now, processes))
    const one =
      due.length > 0
        ? []
        : this.#leases
            .values()
            .filter((lease) => this.#outage !== undefined || lease.isWorthTelling(now))
            .take(1)
    await this.#askOfMany([...due, ...one], (lease) => lease.request(0, this.#clock()))
  }

  /** Tells the authority all, whether it knows it or not. */
  #tellAll(): void {
    this.#forget(this.#clock())
    this.#tell()
  }

  /** Takes for unknown to the authority what it could have lost. */
  #forget(now: number): void {
    for (const lease of this.#leases.values()) {
      if (!lease.isWorthTelling(now)) continue
      lease.forgotten()
      this.#activate(lease)
    }
  }

  /** Of thousands, few are. */
  #unasked(isDue: (lease: HeldLease) => boolean): readonly HeldLease[] {
    return this.#active
      .values()
      .filter((lease) => lease.asking === undefined && isDue(lease))
      .toArray()
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
    for (const [id, lease] of this.#leases) {
      if (lease.asking !== undefined || !lease.isOver(now)) continue
      this.#leases.delete(id)
      this.#active.delete(lease)
      // Calls that end later correct it no more: its counter may have another lease by then.
      lease.window += 1
    }
    this.#sweepAt = Math.max(MIN_SWEEP, 2 * this.#leases.size)
  }
}
