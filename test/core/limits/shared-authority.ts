import { mock } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { type CounterChange, type CounterStorage, StoredAuthority } from '../../../core/limits/authority.ts'
import type { Counter, CounterState, LeaseRequest } from '../../../core/limits/counter.ts'
import { AuthorityUnavailable, type Debit, Leases, type Place, type Taken } from '../../../core/limits/leases.ts'

export const requests = (limit: number, ms = 60_000): Counter => ({
  id: `requests/${ms}`,
  limit,
  window: { kind: 'fixed', ms },
})
export const places = (limit: number): Counter => ({ id: 'places', limit, window: undefined })
export const one = (counter: Counter, onOutage: Debit['onOutage'] = 'serve'): Debit => ({ counter, amount: 1, onOutage })

/** An authority that several processes use. It can be away, hang, forget all, or be restored from a copy. */
export class SharedAuthority {
  isAway = false
  /** Answers come when this has resolved. */
  hanging: Promise<void> = Promise.resolve()
  /** The id of a counter that cannot be changed. */
  faulty: string | undefined
  asked = 0
  /** The most counters in one request. */
  mostAsked = 0
  #states = new Map<string, CounterState>()
  readonly #authority = new StoredAuthority(this.#storage(), undefined, undefined, Date.now)
  readonly #processes: Leases[] = []
  readonly #killed = new Set<Leases>()

  /** The leases of one more process. `clock`: its monotonic milliseconds. */
  process(clock?: () => number, place?: Place): Leases {
    const holder = `process-${this.#processes.length}`
    const renew = async (asked: readonly LeaseRequest[]) => {
      this.asked += 1
      this.mostAsked = Math.max(this.mostAsked, asked.length)
      if (this.isAway || this.#killed.has(leases)) throw new Error('away')
      await this.hanging
      return this.#authority.renew(holder, asked)
    }
    const leases = new Leases({ renew, onAsked: () => undefined, ...(clock && { clock }), ...(place && { place }) })
    this.#processes.push(leases)
    return leases
  }

  /** Ends a process that can tell nothing any more. */
  async kill(leases: Leases): Promise<void> {
    this.#killed.add(leases)
    await leases.close()
  }

  /** What it knows now. */
  copy(): ReadonlyMap<string, CounterState> {
    return new Map(this.#states)
  }

  /** Makes it know what it knew when it was copied; without a copy, nothing. */
  restore(copy: ReadonlyMap<string, CounterState> = new Map()): void {
    this.#states = new Map(copy)
  }

  async close(): Promise<void> {
    await Promise.all(this.#processes.map((leases) => leases.close()))
  }

  #storage(): CounterStorage {
    const change = async (changes: ReadonlyMap<string, CounterChange>): Promise<ReadonlyMap<string, unknown>> => {
      const failed = new Map<string, unknown>()
      for (const [id, { apply }] of changes) {
        if (this.faulty === id) {
          failed.set(id, new Error('faulty'))
          continue
        }
        const state = apply(this.#states.get(id), Date.now())
        if (state !== undefined) this.#states.set(id, state)
      }
      return failed
    }
    return { change, close: async () => undefined }
  }
}

/** Takes a debit. Resolves to undefined if it is refused. */
export async function take(leases: Leases, debit: Debit): Promise<Taken | undefined> {
  const result = await leases.take([debit])
  return 'refused' in result ? undefined : result
}

/** Takes a debit. Resolves to undefined if it is refused, also because nobody knows what is left. */
export async function takeIfKnown(leases: Leases, debit: Debit): Promise<Taken | undefined> {
  try {
    return await take(leases, debit)
  } catch (error) {
    if (error instanceof AuthorityUnavailable) return undefined
    throw error
  }
}

/** Takes one after the other until it is refused, also because nobody knows what is left. Returns how often it was granted. */
export async function takeAllKnown(leases: Leases, debit: Debit): Promise<number> {
  for (let count = 0; ; count++) if ((await takeIfKnown(leases, debit)) === undefined) return count
}

/** Takes one after the other until it is refused. Returns how often it was granted. */
export async function takeAll(leases: Leases, debit: Debit): Promise<number> {
  for (let count = 0; ; count++) if ((await take(leases, debit)) === undefined) return count
}

/** Lets time pass on mocked timers, in steps that give promises the time to settle. */
export async function pass(ms: number, step = 250): Promise<void> {
  for (let passed = 0; passed < ms; passed += step) {
    mock.timers.tick(step)
    await setImmediate()
  }
}
