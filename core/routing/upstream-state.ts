import { Gate, type GateLimits } from './gate.ts'
import { type BreakerState, Health } from './health.ts'
import { RetryBudget } from './retry-budget.ts'

/** What the table says of an upstream's protection. */
export interface Protection {
  readonly breaker: boolean
  readonly concurrency?: GateLimits | undefined
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
  readonly gate: Gate
  readonly budget = new RetryBudget(performance.now())
  readonly #namespace: string
  readonly #breaker: boolean
  readonly #listener: BreakerListener
  readonly #healths = new Map<string, Health>()
  /** A table that is only tried may be refused: nobody hears of its targets. */
  #announced = false

  constructor(namespace: string, { breaker, concurrency }: Protection, listener: BreakerListener) {
    this.gate = new Gate(concurrency)
    this.#namespace = namespace
    this.#breaker = breaker
    this.#listener = listener
  }

  /** The health of a model that the table names. */
  named(model: string): Health {
    const known = this.#healths.get(model)
    if (known !== undefined) return known
    const health = new Health(this.#breaker, (state) => this.#listener.changed(this.#namespace, model, state))
    this.#healths.set(model, health)
    if (this.#announced) this.#listener.known(this.#namespace, model)
    return health
  }

  /** The health of any model. */
  of(model: string): Health {
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
  get healths(): ReadonlyMap<string, Health> {
    return this.#healths
  }
}
