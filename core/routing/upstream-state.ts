import { isDeepStrictEqual } from 'node:util'
import type { LimitsConfig } from '../config/config.ts'
import type { Provider } from '../sdk/api.ts'
import type { CredentialPool, CredentialReport } from './credentials.ts'
import { type LimitServices, NamespaceLimits } from './namespace-limits.ts'
import {
  type Availability,
  type BreakerState,
  ConcurrencyLimiter,
  type ConcurrencyLimits,
  RetryBudget,
  TargetHealth,
} from './protection.ts'

/** The protection of an upstream, as configured. */
export interface Protection {
  readonly breaker: boolean
  readonly concurrency?: ConcurrencyLimits | undefined
  readonly limits?: LimitsConfig | undefined
}

/** A provider as it was created. */
export interface CreatedProvider {
  readonly provider: Provider
  /** Those that share its calls; absent if there are not several. */
  readonly credentials?: CredentialPool | undefined
}

/** Receives the targets in use, the changes of their breakers, and that they were skipped. */
export interface TargetListener {
  /** `model`: `*` for all models that routes.yaml does not name. */
  known(namespace: string, model: string): void
  changed(namespace: string, model: string, state: BreakerState): void
  forgotten(namespace: string, model: string): void
  /** A call skipped a target, which it would have attempted otherwise. */
  skipped(namespace: string, why: string): void
}

/** Models that routes.yaml does not name share one health, because clients choose their names: the number is unbounded. */
export const UNNAMED = '*'

/** The state of one namespace's upstream: its limits, its retry budget, and the health of each of its models. */
export class UpstreamState {
  readonly limiter: ConcurrencyLimiter
  /** Those that all processes share; undefined if the namespace has none. */
  readonly limits: NamespaceLimits | undefined
  /** Those that share its calls; undefined if there are not several. */
  readonly credentials: CredentialPool | undefined
  readonly budget = new RetryBudget(performance.now())
  readonly #namespace: string
  readonly #breaker: boolean
  readonly #listener: TargetListener
  readonly #healths = new Map<string, TargetHealth>()
  /** False for a table that is only checked: the listener does not receive its targets. */
  #announced = false

  constructor(
    namespace: string,
    { breaker, concurrency, limits }: Protection,
    { listener, services }: StateOptions,
    credentials?: CredentialPool,
  ) {
    this.credentials = credentials
    this.limiter = new ConcurrencyLimiter(concurrency)
    this.limits = limits && new NamespaceLimits(namespace, limits, services)
    this.#namespace = namespace
    this.#breaker = breaker
    this.#listener = listener
  }

  /** The health of a model that routes.yaml names. */
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

  /** A call skipped one of its models. */
  skipped(why: string): void {
    this.#listener.skipped(this.#namespace, why)
  }

  /** The table in use contains this upstream from now on. */
  announce(): void {
    this.#announced = true
    for (const model of this.#healths.keys()) this.#listener.known(this.#namespace, model)
  }

  /** The table in use no longer contains this upstream. */
  forget(): void {
    this.#announced = false
    for (const model of this.#healths.keys()) this.#listener.forgotten(this.#namespace, model)
  }

  /** By model. */
  get healths(): ReadonlyMap<string, TargetHealth> {
    return this.#healths
  }
}

/** The options of the states of upstreams. */
export interface StateOptions {
  readonly listener: TargetListener
  /** Keep the limits that all processes share. */
  readonly services: LimitServices
}

interface Kept {
  readonly protection: Protection
  readonly state: UpstreamState
}

/** The state of one target. */
export interface TargetReport {
  readonly namespace: string
  /** `*` for all models that routes.yaml does not name. */
  readonly model: string
  readonly breaker: BreakerState
  /** For the account for which its breaker is open, if it is open for one alone. */
  readonly availability: Availability
  /** Milliseconds until it is available again; 0 if it is. */
  readonly availableInMs: number
  /** Milliseconds until its cooldown is over; 0 if it has none. */
  readonly cooldownMs: number
  /** Running attempts. */
  readonly busy: number
  /** Milliseconds to the first byte, smoothed; 0 until the first reply. */
  readonly latency: number
  /** Of its namespace, if it has several. */
  readonly credentials: readonly CredentialReport[]
}

/** The state of all upstreams. It outlives a generation: a reload does not reset breakers. */
export class UpstreamStates {
  readonly #options: StateOptions
  /** By provider instance; several if tables, in use or refused, configure different protection. */
  readonly #kept = new WeakMap<Provider, readonly Kept[]>()
  /** By namespace. */
  #inUse: ReadonlyMap<string, UpstreamState> = new Map()

  constructor(options: StateOptions) {
    this.#options = options
  }

  /** The state of a namespace's upstream: the existing one if the provider instance and the protection are the same. */
  of(namespace: string, { provider, credentials }: CreatedProvider, { breaker, concurrency, limits }: Protection): UpstreamState {
    const protection = { breaker, concurrency, limits }
    const kept = this.#kept.get(provider) ?? []
    const same = kept.find((each) => isDeepStrictEqual(each.protection, protection))
    if (same !== undefined) return same.state
    const state = new UpstreamState(namespace, protection, this.#options, credentials)
    this.#kept.set(provider, [...kept, { protection, state }])
    return state
  }

  /** Replaces the states in use, by namespace. */
  use(states: ReadonlyMap<string, UpstreamState>): void {
    for (const [namespace, state] of this.#inUse) if (states.get(namespace) !== state) state.forget()
    for (const [namespace, state] of states) if (this.#inUse.get(namespace) !== state) state.announce()
    this.#inUse = states
  }

  /** The state of all targets. `now`: monotonic milliseconds. */
  report(now: number): readonly TargetReport[] {
    return [...this.#inUse].flatMap(([namespace, state]) =>
      Array.from(state.healths, ([model, health]) => ({
        namespace,
        model,
        breaker: health.state(now),
        availability: health.availabilityAtWorst(now),
        availableInMs: Math.max(0, health.availableAt - now),
        cooldownMs: Math.max(0, health.cooledDownAt - now),
        busy: health.busy,
        latency: health.latency,
        credentials: state.credentials?.report(now) ?? [],
      })),
    )
  }
}
