import { setTimeout as delay } from 'node:timers/promises'
import type { Router } from '@koa/router'
import { LinkedList } from '../async/event-loop.ts'
import { LIFECYCLE_BASE, lifecycleOperations } from '../control/config.ts'
import { consoleRouter } from '../control/console.ts'
import { type MonitoringServices, monitoringRouter } from '../control/monitoring.ts'
import { managementRouter } from '../control/router.ts'
import type { ManagementOptions, ManagementServices, ReloadOutcome, ReloadTrigger, Urls } from '../control/services.ts'
import { type ApiServices, type AppServices, apiRoutes } from '../http/app.ts'
import { CallReader } from '../http/body.ts'
import type { Exchange } from '../http/exchange.ts'
import type { Generation } from '../http/generation.ts'
import { type Listen, openListeners } from '../http/server.ts'
import { Settlement } from '../http/settle.ts'
import type { Secret } from '../sdk/api.ts'
import { Reloader } from './reload.ts'
import { DEFAULT_LINK_TIMEOUT_MS, openServices, type ServiceOptions } from './services.ts'

/** The options of a gateway. */
export interface GatewayOptions extends ServiceOptions {
  /** The path of routes.yaml. */
  readonly routes: string
  readonly env: NodeJS.ProcessEnv
  readonly listen: Listen
  /** A second listener, for all paths. The first one then serves only `/v1`. */
  readonly adminListen?: Listen
  readonly metricsToken?: Secret
  readonly management?: ManagementOptions
  readonly times?: Partial<GatewayTimes>
}

/** The timeouts of a gateway, in milliseconds. */
export interface GatewayTimes {
  /** The silence in a stream after which a comment is sent. */
  readonly heartbeat: number
  /** How long a client may read no bytes. */
  readonly writeStall: number
  /** How long a link may take, `next` excluded. */
  readonly link: number
  /** How long loading routes.yaml may take. */
  readonly load: number
}

const TIMES: GatewayTimes = { heartbeat: 15_000, writeStall: 30_000, link: DEFAULT_LINK_TIMEOUT_MS, load: 60_000 }

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
  /** Reloads routes.yaml. */
  reload(trigger: ReloadTrigger): Promise<ReloadOutcome>
  /** Shuts the gateway down: refuses new calls, waits for open ones, and closes everything. */
  drain(times: DrainTimes): Promise<void>
}

/** Starts a gateway. Resolves once it listens. Throws a ConfigError if routes.yaml is not valid; everything opened is then closed. */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  await using opened = new AsyncDisposableStack()
  const times = { ...TIMES, ...options.times }
  const services = opened.adopt(openServices({ ...options, linkTimeout: times.link }), (each) => each.close())
  const { recorder } = services
  const reloader = opened.adopt(await Reloader.start({ ...options, services, loadTimeout: times.load }), (each) => each.close())
  const settlement = new Settlement({ ...services, hookTimeout: times.link })
  const { live } = reloader
  const lifecycle = { draining: false }
  const app: AppServices & ApiServices = {
    ...services,
    live,
    settlement,
    open: new LinkedList<Exchange>(),
    reader: new CallReader(services.workers),
    heartbeat: times.heartbeat,
    lifecycle,
  }
  const management: ManagementServices = {
    ...options,
    ...options.management,
    recorder,
    live,
    urls: () => ({ clients: listeners.url, people: listeners.adminUrl, ...options.management?.urls }),
    config: () => reloader.state,
    reload: (trigger) => reloader.reload(trigger),
  }
  const monitoring: MonitoringServices = {
    ...services,
    metricsToken: options.metricsToken,
    ready: () => !lifecycle.draining,
  }
  const operators = operatorRouters(monitoring, management)
  const listeners = await openListeners(
    app,
    { clients: [apiRoutes(app)], operators },
    { ...options, writeStall: times.writeStall },
  )

  const running = opened.move()
  async function drain(phases: DrainTimes): Promise<void> {
    lifecycle.draining = true
    await delay(phases.delay)
    recorder.end()
    await listeners.stop(phases.grace)
    await running.disposeAsync()
  }

  const { reload } = management
  return { ...listeners, urls: management.urls(), notices: reloader.notices, live, reload, drain }
}

/** The routers for operators. */
const operatorRouters = (monitoring: MonitoringServices, management: ManagementServices): readonly Router[] => [
  monitoringRouter(monitoring),
  consoleRouter(),
  managementRouter(management),
  managementRouter(management, lifecycleOperations, LIFECYCLE_BASE),
]
