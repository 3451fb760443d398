import { isDeepStrictEqual } from 'node:util'
import type { Provider } from '../plugin/api.ts'
import type { BreakerState, Standing } from './health.ts'
import { type BreakerListener, type Protection, UpstreamState } from './upstream-state.ts'

interface Kept {
  readonly protection: Protection
  readonly state: UpstreamState
}

/** How one target fares. */
export interface TargetReport {
  readonly namespace: string
  /** `*` for all models that the table does not name. */
  readonly model: string
  readonly breaker: BreakerState
  readonly standing: Standing
  /** Milliseconds until it may be asked again; 0 where it may be now. */
  readonly readyIn: number
  /** Tries under way. */
  readonly busy: number
  /** Milliseconds to the first byte, smoothed; 0 where none is known. */
  readonly latency: number
}

/** What is known of every upstream, from one generation to the next: a reload does not make a sick one well. */
export class UpstreamStates {
  readonly #listener: BreakerListener
  /** By the instance of a provider; several where tables, in use or refused, have protected it differently. */
  readonly #kept = new WeakMap<Provider, readonly Kept[]>()
  /** By namespace. */
  #inUse: ReadonlyMap<string, UpstreamState> = new Map()

  constructor(listener: BreakerListener) {
    this.#listener = listener
  }

  /** The state of a namespace's upstream: the one before where the instance of its provider and its protection are the same. */
  of(namespace: string, provider: Provider, { breaker, concurrency }: Protection): UpstreamState {
    const protection = { breaker, concurrency }
    const kept = this.#kept.get(provider) ?? []
    const same = kept.find((each) => isDeepStrictEqual(each.protection, protection))
    if (same !== undefined) return same.state
    const state = new UpstreamState(namespace, protection, this.#listener)
    this.#kept.set(provider, [...kept, { protection, state }])
    return state
  }

  /** The table that is in use from now on has these, by namespace, and no others. */
  use(states: ReadonlyMap<string, UpstreamState>): void {
    for (const [namespace, state] of this.#inUse) if (states.get(namespace) !== state) state.forget()
    for (const [namespace, state] of states) if (this.#inUse.get(namespace) !== state) state.announce()
    this.#inUse = states
  }

  /** How all targets fare. `now`: monotonic milliseconds. */
  report(now: number): readonly TargetReport[] {
    return [...this.#inUse].flatMap(([namespace, state]) =>
      Array.from(state.healths, ([model, health]) => ({
        namespace,
        model,
        breaker: health.state(now),
        standing: health.standing(now),
        readyIn: Math.max(0, health.readyAt - now),
        busy: health.busy,
        latency: health.latency,
      })),
    )
  }
}
