import type { CounterChange, CounterStorage } from './authority.ts'
import type { CounterState } from './counter.ts'

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

  async change(changes: ReadonlyMap<string, CounterChange>): Promise<void> {
    const now = this.#clock()
    for (const [id, { apply, lifetime }] of changes) {
      const known = this.#states.get(id)
      const state = apply(known !== undefined && known.expiresAt > now ? known.state : undefined, now)
      if (state === undefined) continue
      if (known === undefined && this.#states.size >= this.#sweepAt) this.#sweep(now)
      this.#states.set(id, { state, expiresAt: now + lifetime })
    }
  }

  async close(): Promise<void> {}

  /** The next sweep is due at twice the remaining counters, so that its amortised cost for each new one is constant. */
  #sweep(now: number): void {
    for (const [id, { expiresAt }] of this.#states) if (expiresAt <= now) this.#states.delete(id)
    this.#sweepAt = Math.max(MIN_SWEEP, 2 * this.#states.size)
  }
}
