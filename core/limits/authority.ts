import { BoundedMap } from '../async/bounded-map.ts'
import { SerialQueue } from '../async/serial-queue.ts'
import { newId } from '../text/ids.ts'
import {
  type Counter,
  type CounterState,
  type Grant,
  grant,
  hasEndedLeases,
  LEASE_MS,
  type Lease,
  type LeaseRequest,
  merge,
  REMEMBERED_MS,
  reconcile,
} from './counter.ts'
import { boundsOf } from './window.ts'

/** Holds the truth of counters for all processes, and grants leases of them. */
export interface QuotaAuthority {
  /**
   * Renews leases of a holder: notes what it has spent, and grants what it needs, if that is left. One reply for each request, in their
   * order; null if its counter alone cannot be changed. Rejects if the authority cannot be reached; the same may be asked again, since all
   * amounts are absolute.
   */
  renew(holder: string, requests: readonly LeaseRequest[]): Promise<readonly (Lease | null)[]>
  /** Ends its connections. */
  close(): Promise<void>
}

/** Where an authority keeps the states of its counters: memory, a database, Redis. */
export interface CounterStorage {
  /**
   * Changes states, each as if no other change were made at the same time. `now` of a change: milliseconds since 1970, by the clock of
   * the storage. A change may be called more than once; only its last result counts. Resolves to the errors of the counters that could not
   * be changed, by their ids. Rejects if the storage cannot be reached.
   */
  change(changes: ReadonlyMap<string, CounterChange>): Promise<ReadonlyMap<string, unknown>>
  close(): Promise<void>
}

/** The change of the state of one counter. */
export interface CounterChange {
  /** The new state; undefined: no change. `state`: undefined if there is none that can be read. */
  apply(state: CounterState | undefined, now: number): CounterState | undefined
  /** How long the state is kept without a further change, in milliseconds. */
  readonly lifetime: number
}

/** What was spent of a counter since a time (milliseconds since 1970), as the rows of calls say; null if they do not say it. */
export type Ledger = (counter: Counter, since: number) => Promise<number | null>

/** The most counters whose states an authority remembers. */
const MAX_REMEMBERED = 10_000
/** The most counters that are reported as unchangeable. */
const MAX_FAULTS = 100

/**
 * Each process that asks has spent of this counter: the leases of it show how many there are. Processes of older versions spend of it
 * themselves.
 */
const PROCESSES: Counter = { id: 'witness', limit: Number.MAX_SAFE_INTEGER, window: { kind: 'fixed', ms: 86_400_000 } }
const PRESENT = { counter: PROCESSES, windowEnd: Number.MAX_SAFE_INTEGER, spent: 1, keep: 0, need: 0, want: 0 }
/** How often that is renewed, in milliseconds. */
const PRESENT_MS = LEASE_MS / 2
/** The most processes of which it is known when that was. */
const MAX_PROCESSES = 1000

/**
 * The record of an authority, of which each of its changes increases the version. A storage that was restored from a copy, is empty, or is a
 * replica that was behind, has an older version, or none.
 */
const RECORD: CounterChange = {
  lifetime: REMEMBERED_MS,
  apply: (state) => state ?? { windowEnd: Number.MAX_SAFE_INTEGER, used: 0, leases: {} },
}

interface Renewal {
  readonly holder: string
  readonly request: LeaseRequest
  /** What the ledger says was spent in the window; undefined: it was not asked. */
  recorded: number | null | undefined
  /** Undefined: the ledger must be asked, or the counter cannot be changed. */
  lease: Grant | undefined
}

interface Batch {
  readonly renewals: Renewal[]
  readonly done: Promise<void>
}

/**
 * An authority with a storage. Requests that arrive while a change is under way are one change, the next.
 *
 * A calendar window that the storage does not know begins with what the ledger says: a budget may be set in the middle of a month, and a
 * storage may have lost all.
 */
export class StoredAuthority implements QuotaAuthority {
  readonly #storage: CounterStorage
  readonly #ledger: Ledger
  readonly #onFault: (counter: string, error: unknown) => void
  readonly #clock: () => number
  /** The last state of each counter that this gateway has written: a storage may lose it. */
  readonly #remembered = new BoundedMap<string, CounterState>(MAX_REMEMBERED)
  /** Counters that cannot be changed. */
  readonly #faulty = new Set<string>()
  /** The name of its record. It has another one from when its storage has lost something. */
  #epoch = newId('aut')
  /** When the record may be changed again, by `clock`: a node of a cluster that hangs must not make each change late. */
  #recordFrom = Number.NEGATIVE_INFINITY
  /** When the presence of each process was shown last, by `clock`. */
  readonly #shownAt = new BoundedMap<string, number>(MAX_PROCESSES)
  /** How many processes were present then. */
  #holders = 0
  #next: Batch | undefined
  readonly #changes = new SerialQueue()

  /** `onFault`: told of a counter that cannot be changed, once until it can be changed again. `clock`: monotonic milliseconds. */
  constructor(
    storage: CounterStorage,
    ledger: Ledger = async () => null,
    onFault: (counter: string, error: unknown) => void = () => undefined,
    clock: () => number = () => performance.now(),
  ) {
    this.#storage = storage
    this.#ledger = ledger
    this.#onFault = onFault
    this.#clock = clock
  }

  async renew(holder: string, requests: readonly LeaseRequest[]): Promise<readonly (Lease | null)[]> {
    if (requests.length === 0) return []
    const renewals = requests.map((request): Renewal => ({ holder, request, recorded: undefined, lease: undefined }))
    this.#next ??= this.#schedule()
    this.#next.renewals.push(...renewals)
    await this.#next.done
    const [epoch, holders] = [this.#epoch, this.#holders]
    return renewals.map(({ lease }) => (lease === undefined ? null : { ...lease, epoch, holders }))
  }

  /** Compares counters of calendar windows with the ledger. `recorded`: what it says was spent in the current window. */
  async reconcile(recorded: ReadonlyMap<Counter, number>): Promise<void> {
    const changes = Array.from(recorded, ([counter, amount]): [string, CounterChange] => [
      counter.id,
      { lifetime: lifetimeOf(counter), apply: (state, now) => state && reconcile(state, amount, now) },
    ])
    if (changes.length > 0) await this.#store(new Map(changes))
  }

  async close(): Promise<void> {
    await this.#changes.ended()
    await this.#storage.close()
  }

  #schedule(): Batch {
    const renewals: Renewal[] = []
    const done = this.#changes.run(() => {
      this.#next = undefined
      return this.#change(renewals)
    })
    return { renewals, done }
  }

  async #change(renewals: readonly Renewal[]): Promise<void> {
    const all = [...renewals, ...this.#presenceOf(renewals)]
    const failed = await this.#renew(all)
    this.#noteProcesses(all)
    const unknown = renewals.filter(({ lease, request }) => lease === undefined && !failed.has(request.counter.id))
    if (unknown.length === 0) return
    await Promise.all(
      unknown.map(async (renewal) => {
        const { counter } = renewal.request
        renewal.recorded = await this.#ledger(counter, boundsOf(counter.window as never, Date.now()).start)
      }),
    )
    await this.#renew(unknown)
  }

  /** Only what is stored is granted. */
  async #renew(renewals: readonly Renewal[]): Promise<ReadonlyMap<string, unknown>> {
    const failed = await this.#store(changesOf(renewals))
    for (const renewal of renewals) if (failed.has(renewal.request.counter.id)) renewal.lease = undefined
    return failed
  }

  /** Renewals that show the presence of the processes that ask, where that was not shown lately. */
  #presenceOf(renewals: readonly Renewal[]): readonly Renewal[] {
    const since = this.#clock() - PRESENT_MS
    const shown = new Set(renewals.filter(showsPresence).map(({ holder }) => holder))
    const isDue = (holder: string): boolean => !shown.has(holder) && (this.#shownAt.get(holder) ?? since) <= since
    const due = new Set(renewals.map(({ holder }) => holder).filter(isDue))
    return Array.from(due, (holder) => ({ holder, request: PRESENT, recorded: undefined, lease: undefined }))
  }

  #noteProcesses(renewals: readonly Renewal[]): void {
    for (const { holder, lease } of renewals.filter(showsPresence)) {
      this.#shownAt.set(holder, this.#clock())
      this.#holders = lease?.holders ?? this.#holders
    }
  }

  /** Changes states, and with them the record of this authority; of one that the storage has lost, what this gateway remembers. */
  async #store(changes: ReadonlyMap<string, CounterChange>): Promise<ReadonlyMap<string, unknown>> {
    const states = new Map<string, CounterState>()
    const lost = new Set<string>()
    const record = `authority/${this.#epoch}`
    // The record is the last one: a storage that has it has the others.
    const all = this.#recordFrom <= this.#clock() ? [...changes, [record, RECORD] as const] : [...changes]
    const remembering = all.map(([id, { apply, lifetime }]): [string, CounterChange] => [
      id,
      {
        lifetime,
        apply: (stored, now) => {
          const own = this.#ownOf(id, now)
          const isLost = own !== undefined && (stored?.version ?? 0) < own.version!
          if (isLost) lost.add(id)
          const before = isLost ? recalled(stored, own) : stored
          const after = apply(before, now)
          if (after === undefined) return undefined
          const state = { ...after, version: (before?.version ?? 0) + 1 }
          states.set(id, state)
          return state
        },
      },
    ])
    const failed = await this.#storage.change(new Map(remembering))
    for (const [id, state] of states) if (!failed.has(id)) this.#remembered.set(id, state)
    for (const id of changes.keys()) {
      if (failed.has(id)) this.#noteFault(id, failed.get(id))
      else this.#faulty.delete(id)
    }
    if (failed.has(record)) this.#recordFrom = this.#clock() + PRESENT_MS
    // Of what was not stored it is noticed again.
    if (lost.values().some((id) => !failed.has(id))) this.#epoch = newId('aut')
    return failed
  }

  /** What this gateway has written last of a state. */
  #ownOf(id: string, now: number): CounterState | undefined {
    const own = this.#remembered.get(id)
    // Places are known to those who have them.
    return own !== undefined && own.windowEnd > now ? own : undefined
  }

  #noteFault(id: string, error: unknown): void {
    // No limit depends on how many processes there are.
    if (id === PROCESSES.id || this.#faulty.has(id) || this.#faulty.size >= MAX_FAULTS) return
    this.#faulty.add(id)
    this.#onFault(id, error)
  }
}

const recalled = (stored: CounterState | undefined, own: CounterState): CounterState =>
  stored === undefined ? own : merge(stored, own)

const showsPresence = ({ request }: Renewal): boolean => request.counter.id === PROCESSES.id

/** The changes of renewals, one for each counter. */
function changesOf(renewals: readonly Renewal[]): ReadonlyMap<string, CounterChange> {
  const byCounter = Map.groupBy(renewals, ({ request }) => request.counter.id)
  return new Map(Array.from(byCounter, ([id, each]) => [id, changeOf(each)]))
}

function changeOf(renewals: readonly Renewal[]): CounterChange {
  const { counter } = renewals[0]!.request
  return {
    lifetime: lifetimeOf(counter),
    apply(before, now) {
      let state = before
      for (const renewal of renewals) {
        const { holder, request, recorded } = renewal
        renewal.lease = undefined
        const asksLedger = recorded === undefined && counter.window?.kind === 'calendar'
        if (state === undefined && asksLedger) continue
        if (typeof recorded === 'number') state &&= reconcile(state, recorded, now)
        const granted = grant(state, request, { holder, now, initial: recorded ?? 0 })
        // What ended holders have left of it may be free.
        if (!granted.lease.granted && asksLedger && hasEndedLeases(state, now)) continue
        renewal.lease = granted.lease
        state = granted.state
      }
      return state
    },
  }
}

/** The longest calendar window. */
const MONTH_MS = 32 * 86_400_000

function lifetimeOf({ window }: Counter): number {
  if (window === undefined) return LEASE_MS
  return window.kind === 'fixed' ? window.ms + LEASE_MS : MONTH_MS
}

/** From this number of counters on, a new one first removes those that have ended. */
const MIN_SWEEP = 1024

/** States in the memory of this process, lost at its end. `clock`: milliseconds since 1970. */
export class MemoryStorage implements CounterStorage {
  readonly #clock: () => number
  readonly #states = new Map<string, { readonly state: CounterState; readonly expiresAt: number }>()
  #sweepAt = MIN_SWEEP

  constructor(clock: () => number = Date.now) {
    this.#clock = clock
  }

  async change(changes: ReadonlyMap<string, CounterChange>): Promise<ReadonlyMap<string, unknown>> {
    const now = this.#clock()
    for (const [id, { apply, lifetime }] of changes) {
      const known = this.#states.get(id)
      const state = apply(known !== undefined && known.expiresAt > now ? known.state : undefined, now)
      if (state === undefined) continue
      if (known === undefined && this.#states.size >= this.#sweepAt) this.#sweep(now)
      this.#states.set(id, { state, expiresAt: now + lifetime })
    }
    return new Map()
  }

  async close(): Promise<void> {}

  /** The next sweep is due at twice the remaining counters, so that its amortised cost for each new one is constant. */
  #sweep(now: number): void {
    for (const [id, { expiresAt }] of this.#states) if (expiresAt <= now) this.#states.delete(id)
    this.#sweepAt = Math.max(MIN_SWEEP, 2 * this.#states.size)
  }
}
