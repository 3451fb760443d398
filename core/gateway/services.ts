import { LinkGuard } from '../http/chain.ts'
import { createKeyDirectory, type KeyDirectory } from '../keys/directory.ts'
import { CallMetrics, PluginMetrics } from '../observe/call-metrics.ts'
import { BreakerMetrics, GatewayMetrics } from '../observe/gateway-metrics.ts'
import type { Log } from '../observe/log.ts'
import { Metrics } from '../observe/metrics.ts'
import { createMemoryLimits } from '../quota/memory.ts'
import { UpstreamStates } from '../routing/upstream-state.ts'
import type { Store } from '../store/database.ts'
import { UpstreamClient } from '../upstream/client.ts'
import { getJson } from '../upstream/get-json.ts'
import { type CallRecorder, openUsage } from '../usage/recorder.ts'
import { DEFAULT_RETENTION, type Retention } from '../usage/retention.ts'
import { createWorkers, type Workers } from '../workers/pool.ts'
import type { GenerationServices } from './build-generation.ts'

/** The default of `ServiceOptions.linkTimeout`. */
export const DEFAULT_LINK_TIMEOUT_MS = 10_000

/** The options of services. */
export interface ServiceOptions {
  readonly store: Store
  readonly log: Log
  /** The version of the package. */
  readonly version: string
  readonly workerThreads: number
  /** How long calls are stored. */
  readonly retention?: Retention
  /** How long a link may take, `next` excluded, in milliseconds. */
  readonly linkTimeout?: number
}

/** The services that all generations share. They outlive reloads. */
export interface Services extends GenerationServices {
  readonly log: Log
  readonly metrics: Metrics
  readonly keys: KeyDirectory
  readonly workers: Workers
  readonly store: Store
  readonly upstreams: UpstreamClient
  readonly calls: CallMetrics
  readonly plugins: PluginMetrics
  readonly gateway: GatewayMetrics
  readonly recorder: CallRecorder
  /** Closes the services, which must not be in use, and the store. */
  close(): Promise<void>
}

/** Opens the services that all generations share. */
export function openServices({
  store,
  log,
  version,
  workerThreads,
  retention = DEFAULT_RETENTION,
  linkTimeout = DEFAULT_LINK_TIMEOUT_MS,
}: ServiceOptions): Services {
  const metrics = new Metrics()
  const usage = openUsage({ store, log, metrics, retention })
  const workers = createWorkers({ threads: workerThreads })
  const keys = createKeyDirectory(store)
  const upstreams = new UpstreamClient()
  const plugins = new PluginMetrics(metrics)
  return {
    store,
    log,
    metrics,
    workers,
    keys,
    upstreams,
    states: new UpstreamStates(new BreakerMetrics(metrics, log)),
    limits: createMemoryLimits(),
    getJson,
    linkGuard: new LinkGuard(plugins, linkTimeout),
    calls: new CallMetrics(metrics),
    plugins,
    gateway: new GatewayMetrics(metrics, { version, workers }),
    recorder: usage.recorder,
    async close() {
      await Promise.all([upstreams.close(), workers.close()])
      await keys.close()
      await usage.close()
      await store.close()
    },
  }
}
