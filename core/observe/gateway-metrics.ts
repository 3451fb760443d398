import type { PluginPhase } from '../plugins/faults.ts'
import type { HostCounter, HostHistogram } from '../sdk/api.ts'
import type { Gauge } from './instruments.ts'
import type { Logger } from './log.ts'
import { METRICS } from './metric-definitions.ts'
import type { Metrics } from './metrics.ts'

/** What the metrics tell of the gateway itself. */
export interface GatewayFacts {
  /** The package's version. */
  readonly version: string
  readonly workers: { readonly queueSize: number }
}

/** The metrics of the process: which build and which routing table it runs, and what waits for its worker threads. */
export class GatewayMetrics {
  readonly #configInfo: Gauge
  readonly #reloads: HostCounter
  readonly #successful: Gauge
  readonly #succeededAt: Gauge
  readonly #generations: Gauge

  constructor(metrics: Metrics, { version, workers }: GatewayFacts) {
    metrics.declare(METRICS.buildInfo).set(1, version, process.versions.node)
    const queueSize = metrics.declare(METRICS.workerQueueSize)
    metrics.onRender(() => queueSize.set(workers.queueSize))
    this.#configInfo = metrics.declare(METRICS.configInfo)
    this.#reloads = metrics.declare(METRICS.configReloads)
    this.#successful = metrics.declare(METRICS.configLastReloadSuccessful)
    this.#succeededAt = metrics.declare(METRICS.configLastReloadSuccess)
    this.#generations = metrics.declare(METRICS.configGenerations)
    for (const result of ['success', 'failure']) this.#reloads.add(0, result)
  }

  /** A routing table is in use from now on, and no other for new calls. */
  configLoaded({ sha256 }: { readonly sha256: string }): void {
    this.#configInfo.clear()
    this.#configInfo.set(1, sha256)
    this.#successful.set(1)
    this.#succeededAt.set(Date.now() / 1000)
    this.#generations.add(1)
  }

  /** The routing table was read again. */
  configReloaded(result: 'success' | 'failure'): void {
    this.#reloads.add(1, result)
    if (result === 'failure') this.#successful.set(0)
  }

  /** The last call of a routing table that is no longer in use has ended. */
  configRetired(): void {
    this.#generations.add(-1)
  }
}

/** What plugins cost and how often they fail. */
export class PluginMetrics {
  readonly #duration: HostHistogram
  readonly #errors: HostCounter

  constructor(metrics: Metrics) {
    this.#duration = metrics.declare(METRICS.pluginDuration)
    this.#errors = metrics.declare(METRICS.pluginErrors)
  }

  /** A plugin has run for so many milliseconds of its own, whatever came of it. */
  ran(plugin: string, phase: PluginPhase, ms: number): void {
    this.#duration.observe(ms / 1000, plugin, phase)
  }

  /** A plugin threw, or did not come back in time. */
  failed(plugin: string, phase: PluginPhase): void {
    this.#errors.add(1, plugin, phase)
  }
}

const STATES = ['closed', 'open', 'half_open'] as const

/** Tells of breakers: which state each is in, and in the log when one opens and when it closes. */
export class BreakerMetrics {
  readonly #state: Gauge
  readonly #log: Logger

  constructor(metrics: Metrics, log: Logger) {
    this.#state = metrics.declare(METRICS.circuitState)
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
