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
import { openServices, type ServiceOptions } from './services.ts'

/** What a gateway is started with. */
export interface GatewayOptions extends ServiceOptions {
  /** Path of routes.yaml. */
  readonly routes: string
  readonly env: NodeJS.ProcessEnv
  readonly listen: Listen
  /** A second listener, for everything: all that is for operators leaves the public one. */
  readonly adminListen?: Listen
  readonly metricsToken?: Secret
  readonly management?: ManagementOptions
  readonly times?: Partial<GatewayTimes>
}

/** The gateway's own clocks, in milliseconds. */
export interface GatewayTimes {
  /** Silence in a stream after which a comment is sent. */
  readonly heartbeat: number
  /** How long a client may take no bytes. */
  readonly writeStall: number
  /** How long a link may take, `next` excluded. */
  readonly link: number
  /** How long loading a routing table may take. */
  readonly load: number
}

const TIMES: GatewayTimes = { heartbeat: 15_000, writeStall: 30_000, link: 10_000, load: 60_000 }

/** How a gateway goes down, in milliseconds. */
export interface DrainTimes {
  /** How long connections are still accepted: load balancers learn late that we are going. */
  readonly delay: number
  /** How long calls under way may then take; after it streams end with an error frame. */
  readonly grace: number
}

/** A running gateway. */
export interface Gateway {
  /** `http://127.0.0.1:8080` */
  readonly url: string
  readonly adminUrl: string
  /** How it is reached from outside. */
  readonly urls: Urls
  /** What the operator should know of the routing table. */
  readonly notices: readonly string[]
  /** The generation that serves new calls. */
  readonly live: { readonly generation: Generation }
  /** Reads the routing table again. */
  reload(trigger: ReloadTrigger): Promise<ReloadOutcome>
  /** Stops taking work, waits for what is under way, and frees everything. */
  drain(times: DrainTimes): Promise<void>
}

/** Starts a gateway: resolves once it serves. Throws ConfigError for a bad routing table; what was opened by then is closed. */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  await using opened = new AsyncDisposableStack()
  const times = { ...TIMES, ...options.times }
  const services = opened.adopt(openServices({ ...options, linkTimeout: times.link }), (all) => all.close())
  const { recorder } = services
  const reloader = opened.adopt(await Reloader.start({ ...options, services, loadTimeout: times.load }), (all) => all.close())
  const settlement = opened.adopt(new Settlement({ ...services, hookTimeout: times.link }), (last) => last.flush())
  const { live } = reloader
  const lifecycle = { draining: false }
  const app: AppServices & ApiServices = {
    ...services,
    live,
    settlement,
    open: new LinkedList<Exchange>(),
    reader: new CallReader(services.workers),
    relayTimes: times,
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
    settlement,
    metricsToken: options.metricsToken,
    ready: () => !lifecycle.draining,
  }
  const operators = operatorRouters(monitoring, management)
  const listeners = await openListeners(app, { clients: [apiRoutes(app)], operators }, options)

  const running = opened.move()
  async function drain({ delay, grace }: DrainTimes): Promise<void> {
    lifecycle.draining = true
    await passed(delay)
    recorder.end()
    await listeners.stop(grace)
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

const passed = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
