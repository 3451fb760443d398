import { isDeepStrictEqual } from 'node:util'
import type { Provider } from '../plugin/api.ts'
import type { BreakerState, Standing } from './health.ts'
import { type BreakerListener, type Protection, UpstreamState } from './upstream-state.ts'

interface Kept {
  readonly provider: Provider
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
  readonly #kept = new Map<string, Kept>()

  constructor(listener: BreakerListener) {
    this.#listener = listener
  }

  /** The state of a namespace's upstream: the one before where the instance of its provider and its protection are the same. */
  of(namespace: string, provider: Provider, { breaker, concurrency }: Protection): UpstreamState {
    const protection = { breaker, concurrency }
    const kept = this.#kept.get(namespace)
    if (kept?.provider === provider && isDeepStrictEqual(kept.protection, protection)) return kept.state
    const state = new UpstreamState(namespace, protection, this.#listener)
    this.#kept.set(namespace, { provider, protection, state })
    return state
  }

  /** Forgets all namespaces but these: the table in use has no others. */
  keep(namespaces: ReadonlySet<string>): void {
    for (const [namespace, { state }] of this.#kept) {
      if (namespaces.has(namespace)) continue
      this.#kept.delete(namespace)
      for (const model of state.healths.keys()) this.#listener.forgotten(namespace, model)
    }
  }

  /** How all targets fare. `now`: monotonic milliseconds. */
  report(now: number): readonly TargetReport[] {
    return [...this.#kept].flatMap(([namespace, { state }]) =>
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
