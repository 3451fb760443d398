import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { LinkedList } from '../async/linked-list.ts'
import { Admission, type AdmissionLimits } from '../call/admission.ts'
import { BackgroundCalls } from '../call/background-calls.ts'
import { LinkGuard } from '../call/chain.ts'
import type { Exchange, ExchangeServices } from '../call/exchange.ts'
import { journaledCalls } from '../call/open-calls.ts'
import { Settlement } from '../call/settle.ts'
import type { Unready } from '../control/monitoring.ts'
import type { AppServices, Lifecycle } from '../http/app.ts'
import type { SocketsOptions } from '../http/upgrade.ts'
import { KeptCallStates } from '../kept/call-states.ts'
import { KeyDirectory } from '../keys/directory.ts'
import { Budgets } from '../limits/budgets.ts'
import { Leases } from '../limits/leases.ts'
import { LeasedLimits } from '../limits/limits.ts'
import { type Counting, HostLimits } from '../limits/reserve.ts'
import { CallMetrics, PluginMetrics } from '../observe/call-metrics.ts'
import { AuthorityMetrics, GatewayMetrics, LimitMetrics, measureCooldowns, TargetMetrics } from '../observe/gateway-metrics.ts'
import type { Log } from '../observe/log.ts'
import { METRICS } from '../observe/metric-definitions.ts'
import type { Metrics } from '../observe/metrics.ts'
import { ShedCounter } from '../observe/shed-counter.ts'
import { UpstreamStates } from '../routing/upstream-state.ts'
import { Tracer } from '../telemetry/call-trace.ts'
import type { TracingSettings } from '../telemetry/trace-settings.ts'
import { connectorWith, UpstreamClient } from '../upstream/client.ts'
import { getJsonBy } from '../upstream/get-json.ts'
import { throughProxy } from '../upstream/through-proxy.ts'
import type { CallJournal } from '../usage/call-journal.ts'
import { createWorkers, type Workers } from '../workers/pool.ts'
import type { LiveServices } from './live-generation.ts'
import type { ControlPlane } from './planes.ts'

/** Time limits of serving, in milliseconds. */
export interface ServingTimes {
  /** The silence in a stream after which a comment is sent. */
  readonly heartbeat: number
  /** How long a client may read no bytes. */
  readonly writeStall: number
  /** The silence after which a WebSocket is pinged. */
  readonly ping: number
  /** How long a WebSocket lives. */
  readonly socket: number
  /** How long a link may take, `next` excluded. */
  readonly link: number
  /** How long a process may be silent before its background responses have failed. */
  readonly lease: number
  /** How long loading routes.yaml may take. */
  readonly load: number
}

const TIMES: ServingTimes = {
  heartbeat: 15_000,
  writeStall: 30_000,
  ping: 30_000,
  // OpenAI's.
  socket: 3_600_000,
  link: 10_000,
  lease: 15_000,
  load: 60_000,
}

/** The options of services. */
export interface ServiceOptions {
  readonly control: ControlPlane
  readonly log: Log
  readonly metrics: Metrics
  /** The version of the package. */
  readonly version: string
  readonly workerThreads: number
  /** Names the proxy to upstreams. */
  readonly env: NodeJS.ProcessEnv
  readonly times?: Partial<ServingTimes>
  /** Processes that share the memory of the container or machine. Default: 1. */
  readonly processes?: number
  /** How many processes had the place of this one before it. Default: 0. */
  readonly predecessors?: number
  /** Default: derived from the memory. */
  readonly admission?: Partial<AdmissionLimits>
  /** The folder of uploaded files while their calls are under way. Default: one of the system's for temporary files. */
  readonly uploads?: string
  /** Absent: what calls cost is only in memory until it is recorded. */
  readonly journal?: CallJournal | undefined
  /** Absent: calls are not traced. */
  readonly tracing?: TracingSettings | undefined
}

/** The services that all generations of a process share. They outlive reloads. */
export interface Services extends LiveServices, AppServices, ExchangeServices, Pick<SocketsOptions, 'socketTimes'> {
  readonly budgets: Budgets
  readonly callStates: KeptCallStates
  readonly background: BackgroundCalls
  readonly log: Log
  readonly metrics: Metrics
  readonly workers: Workers
  readonly upstreams: UpstreamClient
  readonly plugins: PluginMetrics
  readonly lifecycle: Lifecycle
  /** A proxy that leaves is ready: its gateway takes calls, and its next connection reaches another proxy. */
  readonly unready: Unready
  readonly times: ServingTimes
  /** Closes the services, which must not be in use. */
  close(): Promise<void>
}

/** Opens the services that all generations of a process share. Throws an Error if the environment names a proxy that cannot be used. */
export function openServices({ control, log, metrics, version, workerThreads, env, ...options }: ServiceOptions): Services {
  const connector: Services['connector'] = (context) => throughProxy(connectorWith(context), env)
  // Before anything is opened: it throws if the proxy cannot be used.
  const connect = connector()
  const times = { ...TIMES, ...options.times }
  const { processes = 1, predecessors = 0 } = options
  const shed = new ShedCounter(metrics, log)
  const admission = new Admission({ shed, processes, limits: options.admission })
  const workers = createWorkers({ threads: workerThreads, overloaded: () => admission.shed('threads') })
  const keys = new KeyDirectory(control.keys)
  const upstreams = new UpstreamClient(connect)
  const calls = new CallMetrics(metrics, shed)
  const plugins = new PluginMetrics(metrics)
  const authority = new AuthorityMetrics(metrics, log)
  const leases = new Leases({
    renew: (requests) => control.renewLeases(requests),
    onAsked: (error) => authority.asked(error),
    place: { processes, predecessors },
  })
  const limits = new LeasedLimits(leases)
  const counting: Counting = { countTokens: (call) => workers.countTokens(call), log }
  const namespaceLimits = new LimitMetrics(metrics)
  const lifecycle: Lifecycle = { phase: 'serving' }
  const states = new UpstreamStates({
    listener: new TargetMetrics(metrics, log),
    services: {
      limits,
      counting,
      onLimited: (namespace, limit) => namespaceLimits.reached(namespace, limit),
    },
  })
  measureCooldowns(metrics, () => states.report(performance.now()))
  const keptUses = metrics.declare(METRICS.keptValueUses)
  const journaled = options.journal && journaledCalls()
  return {
    log,
    metrics,
    admission,
    shed,
    workers,
    keys,
    upstreams,
    calls,
    plugins,
    times,
    states,
    limits: new HostLimits(limits, counting),
    callStates: new KeptCallStates({ values: control.values, threads: workers, uses: keptUses }),
    keptUses,
    values: control.values,
    background: new BackgroundCalls({ values: control.values, lease: times.lease, admission, log }),
    budgets: new Budgets(leases, counting),
    connector,
    getJson: getJsonBy(connect),
    linkGuard: new LinkGuard(plugins, times.link),
    gateway: new GatewayMetrics(metrics, { version, workers }),
    settlement: new Settlement({ calls, plugins, log, recorder: control.recorder, hookTimeout: times.link }),
    open: journaled ?? new LinkedList<Exchange>(),
    scanner: workers,
    uploads: options.uploads ?? join(tmpdir(), 'umg-uploads'),
    heartbeat: times.heartbeat,
    writeStall: times.writeStall,
    socketTimes: { ping: times.ping, life: times.socket, stall: times.writeStall },
    journal: options.journal,
    tracer: options.tracing && new Tracer(options.tracing),
    lifecycle,
    unready: () => (lifecycle.phase === 'draining' ? 'draining' : keys.available() ? undefined : 'keys lost'),
    async close() {
      journaled?.close()
      admission.close()
      keys.close()
      await leases.close()
      await Promise.all([upstreams.close(), workers.close()])
    },
  }
}
