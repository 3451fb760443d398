import { createKeyDirectory } from '../keys/directory.ts'
import { CallMetrics } from '../observe/call-metrics.ts'
import { BreakerMetrics, GatewayMetrics, PluginMetrics } from '../observe/gateway-metrics.ts'
import type { Logger } from '../observe/log.ts'
import { Metrics } from '../observe/metrics.ts'
import type { HostServices } from '../plugins/host.ts'
import { createMemoryLimits } from '../quota/memory.ts'
import { UpstreamStates } from '../routing/upstream-state.ts'
import type { Store } from '../store/database.ts'
import { UpstreamClient } from '../upstream/client.ts'
import { type CallRecorder, openUsage } from '../usage/recorder.ts'
import { KEEP, type Keep } from '../usage/retention.ts'
import { createWorkers } from '../workers/pool.ts'

/** What services are made of. */
export interface ServiceOptions {
  readonly store: Store
  readonly log: Logger
  /** The package's. */
  readonly version: string
  readonly workerThreads: number
  /** How long calls are remembered. */
  readonly keep?: Keep
}

/** What outlives every version of routes.yaml. */
export interface Services extends HostServices {
  readonly store: Store
  readonly upstreams: UpstreamClient
  /** How the upstreams fare. */
  readonly states: UpstreamStates
  readonly calls: CallMetrics
  readonly plugins: PluginMetrics
  readonly gateway: GatewayMetrics
  readonly recorder: CallRecorder
  /** Once nobody uses them any more; closes the store too. */
  close(): Promise<void>
}

/** Opens what every generation shares. */
export function openServices({ store, log, version, workerThreads, keep = KEEP }: ServiceOptions): Services {
  const metrics = new Metrics()
  const usage = openUsage({ store, log, metrics, keep })
  const workers = createWorkers({ threads: workerThreads })
  const keys = createKeyDirectory(store)
  const upstreams = new UpstreamClient()
  return {
    store,
    log,
    metrics,
    workers,
    keys,
    upstreams,
    states: new UpstreamStates(new BreakerMetrics(metrics, log)),
    limits: createMemoryLimits(),
    declaredKeys: { current: new Map() },
    calls: new CallMetrics(metrics),
    plugins: new PluginMetrics(metrics),
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
