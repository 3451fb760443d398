import { createServer, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { Generation } from '../call/generation.ts'
import type { FileTexts } from '../config/file/files-read.ts'
import type { ReloadOutcome, ReloadTrigger, Urls } from '../control/services.ts'
import { listen } from '../http/listen.ts'
import { openListeners } from '../http/server.ts'
import { METRICS } from '../observe/metric-definitions.ts'
import { Metrics } from '../observe/metrics.ts'
import { TotalMetrics } from '../observe/total-metrics.ts'
import type { Instance } from '../telemetry/instance.ts'
import type { GatewayOptions } from './gateway.ts'
import { openMetricsExport } from './metrics-export.ts'
import { operatorPaths } from './operators.ts'
import { PriceUpdates } from './price-updates.ts'
import { type ConnectedProxy, Proxies } from './proxies.ts'
import { Reloader } from './reload.ts'
import type { RunFolder } from './run-folder.ts'
import { openServices } from './services.ts'
import { openStoredControl } from './stored-control.ts'

/** The options of the control process. */
export interface ControlOptions extends Omit<GatewayOptions, 'listen' | 'adminListen' | 'certificate'> {
  /** The identity of the process; no other one ever has it. */
  readonly process: string
  readonly instance: Instance
  readonly folder: RunFolder
  /** Where the supervisor listens. */
  readonly urls: Urls
  /** How many control processes have ended before it. After the first, proxies may serve already. */
  readonly predecessors: number
}

/** The control process: the database, the management API, the console, metrics, reloads. It serves no call. */
export interface Control {
  readonly urls: Urls
  /** Notices about routes.yaml, for the operator. */
  readonly notices: readonly string[]
  readonly live: { readonly generation: Generation }
  reload(trigger: ReloadTrigger): Promise<ReloadOutcome>
  /** Notes that a process of this role was replaced. */
  replaced(role: string): void
  /** Closes everything when no proxy is connected any more, or after `grace` milliseconds. */
  close(grace: number): Promise<void>
}

/** How long a successor waits for a proxy that tells which version of routes.yaml is in use, in milliseconds. */
const PROXIES_CONNECT_MS = 1_000

/** How long pages and exports may go on when the gateway ends, in milliseconds. */
const GRACE_MS = 1_000

/** Starts the control process. Resolves once proxies and operators can reach it. Throws a ConfigError if routes.yaml is not valid. */
export async function startControl(options: ControlOptions): Promise<Control> {
  await using opened = new AsyncDisposableStack()
  const { folder, log, process, version } = options
  const metrics = new Metrics()
  const total = new TotalMetrics(folder.metrics)
  total.add({ id: process, state: () => metrics.state() })
  const restarts = metrics.declare(METRICS.processRestarts)
  const control = opened.adopt(await openStoredControl({ ...options, metrics }), (each) => each.close())
  const services = opened.adopt(openServices({ ...options, metrics, control }), (each) => each.close())

  const inUse = Promise.withResolvers<FileTexts>()
  const loaded = Promise.withResolvers<Reloader>()
  const proxies = opened.adopt(new Proxies({ control, metrics: total, log }, join), (each) => each.close())

  /** Brings a proxy to the version of routes.yaml in use. */
  async function join(proxy: ConnectedProxy): Promise<void> {
    const { process: id, version: theirs, files, leaving = false } = await proxy.channel.call('hello')
    if (theirs !== version) log.info({ process: id, version: theirs, own: version }, 'a proxy of another version has connected')
    if (leaving) {
      proxy.leave()
      return proxies.add(proxy, id)
    }
    if (files !== null) inUse.resolve(files)
    const reloader = await loaded.promise
    await reloader.follow(async (current) => {
      if (!isDeepStrictEqual(files, current)) {
        const problems = await proxy.prepare(current)
        if (problems.length > 0) throw new Error(`${id} cannot load routes.yaml: ${problems[0]!.message}`)
        await proxy.activate()
      }
      proxies.add(proxy, id)
    })
  }

  const messages = createServer((socket: Socket) => proxies.accept(socket))
  await listen(messages, { path: folder.control })
  opened.defer(() => void messages.close())

  // What proxies serve by may differ from what is on disk, which may even be invalid.
  const files = options.predecessors > 0 ? await Promise.race([inUse.promise, delay(PROXIES_CONNECT_MS, undefined)]) : undefined
  const loading = Reloader.start({
    ...options,
    services,
    followers: proxies,
    onActive: (config) => control.declareAccounts(config),
    onReload: (reload) => control.auditReload(reload),
    loadTimeout: services.times.load,
    ...(files && { files }),
  })
  const reloader = opened.adopt(await loading, (each) => each.close())
  loaded.resolve(reloader)
  control.watchBudgets(() => reloader.live.generation.config.budgets)
  opened.adopt(
    new PriceUpdates({
      log,
      metrics,
      connect: services.connector(),
      workers: services.workers,
      lists: () => reloader.live.generation.config.prices.lists,
    }),
    (each) => each.close(),
  )

  const urls = (): Urls => ({ ...options.urls, ...options.management?.urls })
  const targets = () => proxies.targets()
  const operators = operatorPaths(options, { services, control, reloader, metrics: total, targets, urls })
  const listeners = await openListeners(services, { clients: [], operators }, { listen: { path: folder.console } })

  opened.adopt(await openMetricsExport(options, total), (each) => each?.close())

  const hasBudgets = await control.hasBudgets()
  const running = opened.move()
  /** Once: a second close, with less time, ends when all is closed too. */
  let closing: Promise<void> | undefined
  return {
    urls: urls(),
    notices: reloader.notices(hasBudgets),
    live: reloader.live,
    reload: (trigger) => reloader.reload(trigger),
    replaced: (role) => restarts.add(1, role),
    async close(grace) {
      services.lifecycle.phase = 'draining'
      control.recorder.end()
      await Promise.race([proxies.gone(), delay(grace, undefined, { ref: false })])
      await listeners.stop(GRACE_MS)
      closing ??= running.disposeAsync()
      await closing
    },
  }
}
