import { isDeepStrictEqual } from 'node:util'
import type { Provider } from '../sdk/api.ts'
import {
  type Availability,
  type BreakerState,
  ConcurrencyLimiter,
  type ConcurrencyLimits,
  RetryBudget,
  TargetHealth,
} from './protection.ts'

/** What the table says of an upstream's protection. */
export interface Protection {
  readonly breaker: boolean
  readonly concurrency?: ConcurrencyLimits | undefined
}

/** Hears of targets and their breakers. */
export interface BreakerListener {
  /** `model`: `*` for all that the table does not name. */
  known(namespace: string, model: string): void
  changed(namespace: string, model: string, state: BreakerState): void
  forgotten(namespace: string, model: string): void
}

/** Models that the table does not name share one health: their names are the clients'. */
export const UNNAMED = '*'

/** What is known of one namespace's upstream: the places at it, its retries, and the health of each of its models. */
export class UpstreamState {
  readonly limiter: ConcurrencyLimiter
  readonly budget = new RetryBudget(performance.now())
  readonly #namespace: string
  readonly #breaker: boolean
  readonly #listener: BreakerListener
  readonly #healths = new Map<string, TargetHealth>()
  /** A table that is only tried may be refused: nobody hears of its targets. */
  #announced = false

  constructor(namespace: string, { breaker, concurrency }: Protection, listener: BreakerListener) {
    this.limiter = new ConcurrencyLimiter(concurrency)
    this.#namespace = namespace
    this.#breaker = breaker
    this.#listener = listener
  }

  /** The health of a model that the table names. */
  named(model: string): TargetHealth {
    const known = this.#healths.get(model)
    if (known !== undefined) return known
    const health = new TargetHealth(this.#breaker, (state) => this.#listener.changed(this.#namespace, model, state))
    this.#healths.set(model, health)
    if (this.#announced) this.#listener.known(this.#namespace, model)
    return health
  }

  /** The health of any model. */
  of(model: string): TargetHealth {
    return this.#healths.get(model) ?? this.named(UNNAMED)
  }

  /** The table in use has it from now on. */
  announce(): void {
    this.#announced = true
    for (const model of this.#healths.keys()) this.#listener.known(this.#namespace, model)
  }

  /** The table in use has it no longer. */
  forget(): void {
    this.#announced = false
    for (const model of this.#healths.keys()) this.#listener.forgotten(this.#namespace, model)
  }

  /** By model. */
  get healths(): ReadonlyMap<string, TargetHealth> {
    return this.#healths
  }
}

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
  readonly availability: Availability
  /** Milliseconds until it may be asked again; 0 where it may be now. */
  readonly availableInMs: number
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
        availability: health.availability(now),
        availableInMs: Math.max(0, health.availableAt - now),
        busy: health.busy,
        latency: health.latency,
      })),
    )
  }
}
