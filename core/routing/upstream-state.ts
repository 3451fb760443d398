import { isDeepStrictEqual } from 'node:util'
import { BoundedMap } from '../async/bounded-map.ts'
import type { LimitsConfig } from '../config/config.ts'
import { type LimitServices, NamespaceLimits } from '../limits/namespace-limits.ts'
import type { Provider } from '../sdk/api.ts'
import { type BreakerState, CircuitBreaker } from './circuit-breaker.ts'
import type { CredentialPool, CredentialReport } from './credentials.ts'
import { type Availability, type LastFailure, type RecentCounts, type TargetFailure, TargetHealth } from './health.ts'
import { ConcurrencyLimiter, type ConcurrencyLimits, RetryBudget } from './protection.ts'

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
  /** `model`: `*` for the connections of all models that routes.yaml does not name. */
  known(namespace: string, model: string): void
  changed(namespace: string, model: string, state: BreakerState): void
  forgotten(namespace: string, model: string): void
  /** A call skipped a target, which it would have attempted otherwise. */
  skipped(namespace: string, why: string): void
}

/** The name of all models that routes.yaml does not name, in metrics and reports: clients choose the names, so their number is unbounded. */
const UNNAMED = '*'

/** The most of these models whose health is known, of one upstream. A further one replaces the oldest, whose next calls find it healthy. */
const MAX_UNNAMED = 1000

/** The state of one namespace's upstream: its limits, its retry budget, and the health of each of its models. */
export class UpstreamState {
  readonly limiter: ConcurrencyLimiter
  /** Those that all processes share; undefined if the namespace has none. */
  readonly limits: NamespaceLimits | undefined
  /** Those that share its calls; undefined if there are not several. */
  readonly credentials: CredentialPool | undefined
  readonly retryBudget = new RetryBudget()
  readonly #namespace: string
  readonly #breaker: boolean
  readonly #listener: TargetListener
  readonly #named = new Map<string, TargetHealth>()
  readonly #unnamed = new BoundedMap<string, TargetHealth>(MAX_UNNAMED)
  /** A connection fails for any model: all unnamed ones have one breaker for that, though a client may ask for each of them once only. */
  readonly #connections: CircuitBreaker | undefined
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
    this.#connections = this.#breakerOf(UNNAMED)
  }

  /** The health of a model that routes.yaml names. */
  named(model: string): TargetHealth {
    const known = this.#named.get(model)
    if (known !== undefined) return known
    const health = new TargetHealth(this.#breakerOf(model))
    this.#named.set(model, health)
    if (this.#announced) this.#listener.known(this.#namespace, model)
    return health
  }

  /** The health of any model. What an unnamed one answers concerns no other: whoever calls it may have made up its name. */
  of(model: string): TargetHealth {
    const known = this.#named.get(model) ?? this.#unnamed.get(model)
    if (known !== undefined) return known
    const health = new TargetHealth(this.#breaker ? new CircuitBreaker(() => undefined) : undefined, this.#connections)
    if (this.#unnamed.size === 0 && this.#announced) this.#listener.known(this.#namespace, UNNAMED)
    this.#unnamed.set(model, health)
    return health
  }

  #breakerOf(model: string): CircuitBreaker | undefined {
    return this.#breaker ? new CircuitBreaker((state) => this.#listener.changed(this.#namespace, model, state)) : undefined
  }

  /** A call skipped one of its models. */
  skipped(why: string): void {
    this.#listener.skipped(this.#namespace, why)
  }

  /** The table in use contains this upstream from now on. */
  announce(): void {
    this.#announced = true
    for (const model of this.#models) this.#listener.known(this.#namespace, model)
  }

  /** The table in use no longer contains this upstream. */
  forget(): void {
    this.#announced = false
    for (const model of this.#models) this.#listener.forgotten(this.#namespace, model)
  }

  /** The state of its targets; of unnamed ones together that of the worst. `now`: monotonic milliseconds. */
  report(now: number): readonly TargetReport[] {
    const credentials = this.credentials?.report(now) ?? []
    const reportOf = (model: string, health: TargetHealth): TargetReport => ({
      namespace: this.#namespace,
      model,
      breaker: health.state(now),
      availability: health.availabilityAtWorst(now),
      availableInMs: Math.max(0, health.availableAt - now),
      cooldownMs: Math.max(0, health.longestCooldown - now),
      busy: health.busy,
      latency: health.latency,
      ...(health.last && { last: { failed: health.last.failed, msAgo: now - health.last.at } }),
      ...(health.last && { recent: health.recent(now) }),
      ...(health.lastFailure && { lastFailure: reported(health.lastFailure, now) }),
      credentials,
    })
    const named = Array.from(this.#named, ([model, health]) => reportOf(model, health))
    if (this.#unnamed.size === 0) return named
    return [...named, worstOf(Array.from(this.#unnamed.values(), (health) => reportOf(UNNAMED, health)))]
  }

  get #models(): readonly string[] {
    return [...this.#named.keys(), ...(this.#unnamed.size > 0 ? [UNNAMED] : [])]
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
  /** For the account that fares worst, and so are the milliseconds below. */
  readonly availability: Availability
  /** Milliseconds until it is available again; 0 if it is. */
  readonly availableInMs: number
  /** Milliseconds until its cooldown is over; 0 if it has none. */
  readonly cooldownMs: number
  /** Running attempts. */
  readonly busy: number
  /** Milliseconds to the first byte, smoothed; 0 until the first reply. */
  readonly latency: number
  /** Its last attempt that said something of it, and how many milliseconds ago; absent: none since the start. */
  readonly last?: { readonly failed: boolean; readonly msAgo: number }
  /** Its attempts of the last minutes that said something of it; absent: none since the start. */
  readonly recent?: RecentCounts
  /** The last of its attempts that failed by its fault; absent: none since the start. */
  readonly lastFailure?: ReportedFailure
  /** Of its namespace, if it has several. */
  readonly credentials: readonly CredentialReport[]
}

/** Why an attempt failed, and how many milliseconds ago. */
export interface ReportedFailure extends TargetFailure {
  readonly msAgo: number
}

const reported = ({ at, ...failure }: LastFailure, now: number): ReportedFailure => ({ ...failure, msAgo: now - at })

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
    return [...this.#inUse.values()].flatMap((state) => state.report(now))
  }
}

const BREAKERS: readonly BreakerState[] = ['closed', 'half_open', 'open']

/** One report of several on the same target, or on targets of one name: the worst state, the newest attempt and failure, and the sum of the attempts. */
export function worstOf(reports: readonly TargetReport[]): TargetReport {
  const worst = reports.reduce((one, other) => (severity(other) > severity(one) ? other : one))
  const busy = reports.reduce((sum, report) => sum + report.busy, 0)
  const credentials = worst.credentials.map(({ name }, index) => {
    const cooldowns = reports.map((report) => report.credentials[index]?.cooldownMs ?? 0)
    return { name, cooldownMs: Math.max(...cooldowns) }
  })
  const last = newest(reports.map((report) => report.last))
  const lastFailure = newest(reports.map((report) => report.lastFailure))
  const recent = sumOf(reports.flatMap((report) => report.recent ?? []))
  return {
    ...worst,
    ...(last && { last, recent }),
    ...(lastFailure && { lastFailure }),
    busy,
    latency: Math.max(...reports.map(({ latency }) => latency)),
    credentials,
  }
}

const newest = <Event extends { readonly msAgo: number }>(events: readonly (Event | undefined)[]): Event | undefined =>
  events.filter((event) => event !== undefined).sort((one, other) => one.msAgo - other.msAgo)[0]

/** The time of several is the longest of theirs. */
const sumOf = (counts: readonly RecentCounts[]): RecentCounts => ({
  attempts: counts.reduce((sum, { attempts }) => sum + attempts, 0),
  failures: counts.reduce((sum, { failures }) => sum + failures, 0),
  ms: Math.max(0, ...counts.map(({ ms }) => ms)),
})

const severity = ({ breaker, availableInMs }: TargetReport): number => BREAKERS.indexOf(breaker) * 1e9 + availableInMs
