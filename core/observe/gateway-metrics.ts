import type { HostCounter } from '../plugin/api.ts'
import { CATALOGUE } from './catalogue.ts'
import type { Gauge } from './instruments.ts'
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
    metrics.declare(CATALOGUE.buildInfo).set(1, version, process.versions.node)
    const queueSize = metrics.declare(CATALOGUE.workerQueueSize)
    metrics.onRender(() => queueSize.set(workers.queueSize))
    this.#configInfo = metrics.declare(CATALOGUE.configInfo)
    this.#reloads = metrics.declare(CATALOGUE.configReloads)
    this.#successful = metrics.declare(CATALOGUE.configLastReloadSuccessful)
    this.#succeededAt = metrics.declare(CATALOGUE.configLastReloadSuccess)
    this.#generations = metrics.declare(CATALOGUE.configGenerations)
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
