import { setTimeout as delay } from 'node:timers/promises'
import type { Generation } from '../call/generation.ts'
import type { ReloadOutcome, ReloadTrigger, Urls } from '../control/services.ts'
import { apiPaths } from '../http/app.ts'
import type { CertificateWatch } from '../http/certificate.ts'
import { crossOrigin } from '../http/cors.ts'
import { type Listen, reachable } from '../http/listen.ts'
import { openListeners } from '../http/server.ts'
import { TlsTermination } from '../http/tls.ts'
import { Sockets } from '../http/upgrade.ts'
import { Metrics } from '../observe/metrics.ts'
import { newInstance } from '../telemetry/instance.ts'
import { openJournal } from '../usage/call-journal.ts'
import { type ExportedMetricsOptions, openMetricsExport } from './metrics-export.ts'
import { type OperatorOptions, operatorPaths } from './operators.ts'
import { PriceUpdates } from './price-updates.ts'
import { Reloader } from './reload.ts'
import { openServices, type ServiceOptions } from './services.ts'
import { openStoredControl, type StoredControlOptions } from './stored-control.ts'

/** The options of a gateway. */
export interface GatewayOptions
  extends Omit<ServiceOptions, 'control' | 'metrics'>,
    Omit<StoredControlOptions, 'metrics' | 'instance'>,
    Omit<ExportedMetricsOptions, 'instance'>,
    OperatorOptions {
  /** The path of routes.yaml. */
  readonly routes: string
  readonly env: NodeJS.ProcessEnv
  readonly listen: Listen
  /** A second listener, for all paths. The first one then serves only `/v1`. */
  readonly adminListen?: Listen
  /** Closed by the gateway. Absent: clients connect without TLS. */
  readonly certificate?: CertificateWatch | undefined
  /** Origins whose pages may call `/v1`. */
  readonly corsOrigins?: readonly string[] | undefined
  /** Whether clients may open WebSockets. Default: true. */
  readonly websockets?: boolean | undefined
}

/** The phases of a shutdown, in milliseconds. */
export interface DrainTimes {
  /** How long connections are still accepted: load balancers notice `/readyz` late. */
  readonly delay: number
  /** How long open calls may take after that. Then streams end with an error frame. */
  readonly grace: number
}

/** A running gateway. */
export interface Gateway {
  /** `http://127.0.0.1:8080` */
  readonly url: string
  readonly adminUrl: string
  /** Its public origins. */
  readonly urls: Urls
  /** Notices about routes.yaml, for the operator. */
  readonly notices: readonly string[]
  /** The generation that serves new calls. */
  readonly live: { readonly generation: Generation }
  /** Reloads routes.yaml, and the certificate. */
  reload(trigger: ReloadTrigger): Promise<ReloadOutcome>
  /** Shuts the gateway down: refuses new calls, waits for open ones, and closes everything. */
  drain(times: DrainTimes): Promise<void>
}

/**
 * Starts a gateway in this process. Resolves once it listens. Throws a ConfigError if routes.yaml is not valid; everything opened is then
 * closed.
 */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  await using opened = new AsyncDisposableStack()
  const { journals: folder, log, certificate } = options
  opened.defer(() => certificate?.close())
  const instance = newInstance()
  const metrics = new Metrics()
  const journal = folder === undefined ? undefined : opened.adopt(openJournal(folder, { log, metrics }), (each) => each.close())
  const control = opened.adopt(await openStoredControl({ ...options, instance, metrics, journal }), (each) => each.close())
  const services = opened.adopt(openServices({ ...options, metrics, control, journal }), (each) => each.close())
  const loading = Reloader.start({
    ...options,
    services,
    onActive: (config) => control.declareAccounts(config),
    onReload: (reload) => control.auditReload(reload),
    loadTimeout: services.times.load,
  })
  const reloader = opened.adopt(await loading, (each) => each.close())
  const { live } = reloader
  control.watchBudgets(() => live.generation.config.budgets)
  const lists = () => live.generation.config.prices.lists
  opened.adopt(new PriceUpdates({ log, metrics, connect: services.connector(), workers: services.workers, lists }), (each) =>
    each.close(),
  )
  const targets = async () => services.states.report(performance.now())
  const urls = () => ({ clients: reachable(listeners.url), people: reachable(listeners.adminUrl), ...options.management?.urls })
  const operators = operatorPaths(options, { services, control, reloader, metrics, targets, urls })
  const tls = certificate && new TlsTermination()
  certificate?.follow((each) => tls!.use(each))
  const paths = {
    clients: [...crossOrigin(options.corsOrigins), apiPaths({ ...services, live })],
    operators,
  }
  const sockets = options.websockets === false ? undefined : new Sockets({ ...services, corsOrigins: options.corsOrigins })
  const listeners = await openListeners(services, paths, { ...options, tls, sockets })
  opened.adopt(await openMetricsExport({ ...options, instance }, metrics), (each) => each?.close())

  const hasBudgets = await control.hasBudgets()
  const running = opened.move()
  /** Once: a second drain, with less time, ends when all is closed too. */
  let closing: Promise<void> | undefined
  async function drain({ delay: notice, grace }: DrainTimes): Promise<void> {
    services.lifecycle.phase = 'draining'
    await delay(notice)
    control.recorder.end()
    await listeners.stop(grace)
    closing ??= running.disposeAsync()
    await closing
  }

  return {
    ...listeners,
    urls: urls(),
    notices: reloader.notices(hasBudgets),
    live,
    reload(trigger) {
      certificate?.check()
      return reloader.reload(trigger)
    },
    drain,
  }
}
