import type { Router } from '@koa/router'
import { Roster } from '../async/linked-list.ts'
import { PROCESS, PROCESS_ROUTES } from '../control/config.ts'
import { consoleRoutes } from '../control/console.ts'
import { type SystemParts, systemRoutes } from '../control/health.ts'
import type { ManagementOptions, ManagementParts, Urls } from '../control/operation.ts'
import { managementRoutes } from '../control/router.ts'
import { type ApiParts, type AppParts, apiRoutes } from '../http/app.ts'
import { Chain } from '../http/chain.ts'
import type { Exchange } from '../http/exchange.ts'
import { type Listen, openListeners } from '../http/server.ts'
import { Reports, Settlement } from '../http/settle.ts'
import type { Secret } from '../sdk/api.ts'
import type { Generation } from './generation.ts'
import { Reloader, type ReloadOutcome, type ReloadTrigger } from './reload.ts'
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
  /** What serves new calls. */
  current(): Generation
  /** Reads the routing table again. */
  reload(trigger: ReloadTrigger): Promise<ReloadOutcome>
  /** Stops taking work, waits for what is under way, and frees everything. */
  drain(times: DrainTimes): Promise<void>
}

/** Starts a gateway: resolves once it serves. Throws ConfigError for a bad routing table; what was opened by then is closed. */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  await using opened = new AsyncDisposableStack()
  const times = { ...TIMES, ...options.times }
  const services = opened.adopt(openServices(options), (all) => all.close())
  const { recorder } = services
  const source = { ...options, services, loadTimeout: times.load }
  const tables = opened.adopt(await Reloader.start(source), (all) => all.close())
  const reports = opened.adopt(new Reports(services), (last) => last.flush())
  let draining = false
  const parts: AppParts & ApiParts = {
    ...services,
    chain: new Chain(services.plugins, times.link),
    open: new Roster<Exchange>(),
    settlement: new Settlement({ ...services, reports, linkTimeout: times.link }),
    relayTimes: times,
    workers: services.workers,
    current: () => tables.current,
    draining: () => draining,
  }
  const management: ManagementParts = {
    ...options,
    ...options.management,
    recorder,
    urls: () => ({ clients: listeners.url, people: listeners.adminUrl, ...options.management?.urls }),
    current: parts.current,
    config: () => tables.state,
    reload: (trigger) => tables.reload(trigger),
  }
  const system = { ...services, reports, metricsToken: options.metricsToken, ready: () => !draining }
  const operators = operatorRoutes(system, management)
  const listeners = await openListeners(parts, { clients: [apiRoutes(parts)], operators }, options)

  const running = opened.move()
  async function drain({ delay, grace }: DrainTimes): Promise<void> {
    draining = true
    await passed(delay)
    recorder.end()
    await listeners.stop(grace)
    await running.disposeAsync()
  }

  const { current, reload } = management
  return { ...listeners, urls: management.urls(), notices: tables.notices, current, reload, drain }
}

/** All that is for operators. */
const operatorRoutes = (system: SystemParts, management: ManagementParts): readonly Router[] => [
  systemRoutes(system),
  consoleRoutes(),
  managementRoutes(management),
  managementRoutes(management, PROCESS_ROUTES, PROCESS),
]

const passed = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
