import { CATALOGUE } from './catalogue.ts'
import type { Gauge } from './instruments.ts'
import type { Logger } from './log.ts'
import type { Metrics } from './metrics.ts'

const STATES = ['closed', 'open', 'half_open'] as const

/** Tells of breakers: which state each is in, and in the log when one opens and when it closes. */
export class BreakerMetrics {
  readonly #state: Gauge
  readonly #log: Logger

  constructor(metrics: Metrics, log: Logger) {
    this.#state = metrics.declare(CATALOGUE.circuitState)
    this.#log = log
  }

  /** A target that the table has; `model` is `*` for all those of a namespace that it does not name. */
  known(namespace: string, model: string): void {
    for (const state of STATES) this.#state.set(Number(state === 'closed'), namespace, model, state)
  }

  /** The table has the target no more. */
  forgotten(namespace: string, model: string): void {
    for (const state of STATES) this.#state.set(0, namespace, model, state)
  }

  /** A breaker has changed. */
  changed(namespace: string, model: string, now: (typeof STATES)[number]): void {
    for (const state of STATES) this.#state.set(Number(state === now), namespace, model, state)
    if (now === 'open') this.#log.warn({ namespace, model }, 'a target fails too often: it is given a rest')
    if (now === 'closed') this.#log.info({ namespace, model }, 'a target has recovered')
  }
}
