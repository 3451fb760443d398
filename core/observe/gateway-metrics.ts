import type { HostCounter } from '../sdk/api.ts'
import type { Gauge } from './instruments.ts'
import type { Log } from './log.ts'
import { METRICS } from './metric-definitions.ts'
import type { Metrics } from './metrics.ts'

/** The options of `GatewayMetrics`. */
interface GatewayMetricsOptions {
  /** The version of the package. */
  readonly version: string
  readonly workers: { readonly queueSize: number }
}

/** The metrics of the process: its build, its routing table and the queue of its worker threads. */
export class GatewayMetrics {
  readonly #configInfo: Gauge
  readonly #reloads: HostCounter
  readonly #successful: Gauge
  readonly #succeededAt: Gauge
  readonly #generations: Gauge

  constructor(metrics: Metrics, { version, workers }: GatewayMetricsOptions) {
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

  /** A routing table serves all new calls from now on. */
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

  /** The last call of a replaced routing table has ended. */
  configRetired(): void {
    this.#generations.add(-1)
  }
}

const STATES = ['closed', 'open', 'half_open'] as const

/** The states of circuit breakers and skipped targets, as metrics; the log has a line when a breaker opens and when it closes. */
export class TargetMetrics {
  readonly #state: Gauge
  readonly #skipped: HostCounter
  readonly #log: Log

  constructor(metrics: Metrics, log: Log) {
    this.#state = metrics.declare(METRICS.circuitState)
    this.#skipped = metrics.declare(METRICS.targetsSkipped)
    this.#log = log
  }

  /** The routing table has this target; `model` is `*` for all models of a namespace that the table does not name. */
  known(namespace: string, model: string): void {
    for (const state of STATES) this.#state.set(Number(state === 'closed'), namespace, model, state)
  }

  /** The routing table no longer has the target. */
  forgotten(namespace: string, model: string): void {
    for (const state of STATES) this.#state.set(0, namespace, model, state)
  }

  /** The breaker of a target is in another state. */
  changed(namespace: string, model: string, now: (typeof STATES)[number]): void {
    for (const state of STATES) this.#state.set(Number(state === now), namespace, model, state)
    if (now === 'open') this.#log.warn({ namespace, model }, 'circuit open')
    if (now === 'closed') this.#log.info({ namespace, model }, 'circuit closed')
  }

  /** A call skipped a target of the namespace. */
  skipped(namespace: string, why: string): void {
    this.#skipped.add(1, namespace, why)
  }
}

/** A target, and how long it is cooling down. */
interface CoolingTarget {
  readonly namespace: string
  readonly model: string
  readonly cooldownMs: number
  /** Of its namespace, if it has several. */
  readonly credentials: readonly { readonly name: string; readonly cooldownMs: number }[]
}

/** Shows the cooldowns of targets and credentials, read before each scrape. `targets`: those in use. */
export function measureCooldowns(metrics: Metrics, targets: () => readonly CoolingTarget[]): void {
  const ofTargets = metrics.declare(METRICS.targetCooldown)
  const ofCredentials = metrics.declare(METRICS.credentialCooldown)
  metrics.onRender(() => {
    ofTargets.clear()
    ofCredentials.clear()
    for (const { namespace, model, cooldownMs, credentials } of targets()) {
      ofTargets.set(cooldownMs / 1000, namespace, model)
      for (const { name, cooldownMs: ms } of credentials) ofCredentials.set(ms / 1000, namespace, name)
    }
  })
}

/** The limits of namespaces, as a metric. */
export class LimitMetrics {
  readonly #limited: HostCounter

  constructor(metrics: Metrics) {
    this.#limited = metrics.declare(METRICS.namespaceLimited)
  }

  /** A limit of a namespace had no room for an attempt. */
  reached(namespace: string, limit: 'requests' | 'tokens' | 'concurrent'): void {
    this.#limited.add(1, namespace, limit)
  }
}

/** How the authority of limits answers: a metric, and a log line when it can no longer be reached, and when it can again. */
export class AuthorityMetrics {
  readonly #questions: HostCounter
  readonly #log: Log
  #isReachable = true

  constructor(metrics: Metrics, log: Log) {
    this.#questions = metrics.declare(METRICS.quotaQuestions)
    this.#log = log
    for (const result of ['answered', 'unavailable']) this.#questions.add(0, result)
  }

  /** The authority was asked. `error`: why there was no answer. */
  asked(error: unknown): void {
    const isReachable = error === undefined
    this.#questions.add(1, isReachable ? 'answered' : 'unavailable')
    if (isReachable === this.#isReachable) return
    this.#isReachable = isReachable
    if (isReachable) this.#log.info({}, 'the limits of all processes are shared again')
    else this.#log.warn({ err: error }, 'limits are kept by each process alone: their authority cannot be reached')
  }
}

/** Shows what is kept for a while. Returns what learns the sizes, by the names of spaces. */
export function measureValues(
  metrics: Metrics,
): (sizes: ReadonlyMap<string, { readonly entries: number; readonly bytes: number }>) => void {
  const entries = metrics.declare(METRICS.keptValues)
  const bytes = metrics.declare(METRICS.keptBytes)
  return (sizes) => {
    entries.clear()
    bytes.clear()
    for (const [space, size] of sizes) {
      entries.set(size.entries, space)
      bytes.set(size.bytes, space)
    }
  }
}
