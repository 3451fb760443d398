import { BoundedMap } from '../async/bounded-map.ts'
import { SerialQueue } from '../async/serial-queue.ts'
import {
  type Counter,
  type CounterState,
  grant,
  hasEndedLeases,
  LEASE_MS,
  type Lease,
  type LeaseRequest,
  merge,
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

interface Renewal {
  readonly holder: string
  readonly request: LeaseRequest
  /** What the ledger says was spent in the window; undefined: it was not asked. */
  recorded: number | null | undefined
  /** Undefined: the ledger must be asked, or the counter cannot be changed. */
  lease: Lease | undefined
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
  /** The last state of each counter that this gateway has written: a storage may lose it. */
  readonly #remembered = new BoundedMap<string, CounterState>(MAX_REMEMBERED)
  /** Counters that cannot be changed. */
  readonly #faulty = new Set<string>()
  #next: Batch | undefined
  readonly #changes = new SerialQueue()

  /** `onFault`: told of a counter that cannot be changed, once until it can be changed again. */
  constructor(
    storage: CounterStorage,
    ledger: Ledger = async () => null,
    onFault: (counter: string, error: unknown) => void = () => undefined,
  ) {
    this.#storage = storage
    this.#ledger = ledger
    this.#onFault = onFault
  }

  async renew(holder: string, requests: readonly LeaseRequest[]): Promise<readonly (Lease | null)[]> {
    if (requests.length === 0) return []
    const renewals = requests.map((request): Renewal => ({ holder, request, recorded: undefined, lease: undefined }))
    this.#next ??= this.#schedule()
    this.#next.renewals.push(...renewals)
    await this.#next.done
    return renewals.map(({ lease }) => lease ?? null)
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
    const failed = await this.#store(changesOf(renewals))
    const unknown = renewals.filter(({ lease, request }) => lease === undefined && !failed.has(request.counter.id))
    if (unknown.length === 0) return
    await Promise.all(
      unknown.map(async (renewal) => {
        const { counter } = renewal.request
        renewal.recorded = await this.#ledger(counter, boundsOf(counter.window as never, Date.now()).start)
      }),
    )
    await this.#store(changesOf(unknown))
  }

  /** Changes states in the storage; of one that it has lost, what this gateway remembers. */
  async #store(changes: ReadonlyMap<string, CounterChange>): Promise<ReadonlyMap<string, unknown>> {
    const states = new Map<string, CounterState>()
    const remembering = Array.from(changes, ([id, { apply, lifetime }]): [string, CounterChange] => [
      id,
      {
        lifetime,
        apply: (stored, now) => {
          const before = this.#recall(id, stored, now)
          const after = apply(before, now)
          if (after === undefined) return undefined
          const state = { ...after, version: (before?.version ?? 0) + 1 }
          states.set(id, state)
          return state
        },
      },
    ])
    const failed = await this.#storage.change(new Map(remembering))
    for (const id of changes.keys()) {
      const state = states.get(id)
      if (failed.has(id)) this.#noteFault(id, failed.get(id))
      else {
        this.#faulty.delete(id)
        if (state !== undefined) this.#remembered.set(id, state)
      }
    }
    return failed
  }

  #recall(id: string, stored: CounterState | undefined, now: number): CounterState | undefined {
    const own = this.#remembered.get(id)
    // Places are known to those who have them.
    if (own === undefined || own.windowEnd <= now) return stored
    if (stored === undefined) return own
    return (stored.version ?? 0) < own.version! ? merge(stored, own) : stored
  }

  #noteFault(id: string, error: unknown): void {
    if (this.#faulty.has(id) || this.#faulty.size >= MAX_FAULTS) return
    this.#faulty.add(id)
    this.#onFault(id, error)
  }
}

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
