import type { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { Middleware } from 'koa'
import { healthRouter } from '../control/monitoring.ts'
import { apiPaths } from '../http/app.ts'
import type { Certificate } from '../http/certificate.ts'
import { crossOrigin } from '../http/cors.ts'
import { forwardTo } from '../http/forward.ts'
import type { ListenerName } from '../http/listen.ts'
import { openListeners } from '../http/server.ts'
import { TlsTermination } from '../http/tls.ts'
import { METRICS } from '../observe/metric-definitions.ts'
import { Metrics } from '../observe/metrics.ts'
import { openJournal } from '../usage/call-journal.ts'
import { Follower } from './follower.ts'
import type { DrainTimes } from './gateway.ts'
import { RemoteControl } from './remote-control.ts'
import type { RunFolder } from './run-folder.ts'
import { openServices, type ServiceOptions } from './services.ts'

/** The options of a proxy process. */
export interface ProxyOptions extends Omit<ServiceOptions, 'control' | 'metrics'> {
  /** The path of routes.yaml. */
  readonly routes: string
  readonly env: NodeJS.ProcessEnv
  /** The identity of the process; no other one ever has it. */
  readonly process: string
  readonly folder: RunFolder
  /** Whether operators have a listener of their own. */
  readonly adminListen: boolean
  /** Whether clients connect by TLS. */
  readonly tls: boolean
  /** The folder of the journals of all processes. */
  readonly journals: string
  /** Origins whose pages may call `/v1`. */
  readonly corsOrigins?: readonly string[] | undefined
}

/** A proxy process: it serves `/v1`, and forwards all other paths to control. */
export interface Proxy {
  /** Serves a connection that the supervisor accepted. */
  accept(listener: ListenerName, socket: Socket): void
  /** Ends TLS with this certificate. Called before the first connection is accepted. */
  useCertificate(certificate: Certificate): void
  /** Refuses new calls, waits for open ones, and closes everything. */
  drain(times: DrainTimes): Promise<void>
  /** Waits for open calls to end by themselves, for `grace` milliseconds for what is open and is no call, and closes everything. */
  leave(grace: number): Promise<void>
}

/**
 * How long a proxy that leaves still serves its connections, in milliseconds: its replies tell clients to close them. Closing a connection
 * that seems idle would break the call that is just being sent on it.
 */
const LEAVE_MS = 2_000

/** Starts a proxy. Resolves once it serves by the version of routes.yaml that control has. */
export async function startProxy(options: ProxyOptions): Promise<Proxy> {
  await using opened = new AsyncDisposableStack()
  const { folder, process, version } = options
  const metrics = new Metrics()
  const dropped = metrics.declare(METRICS.usageRowsDropped)
  // Control sends its first message on a later turn of the event loop, when the follower exists.
  const messages = {
    hello: () => ({ process, version, files: follower.files, leaving: services.lifecycle.phase === 'leaving' }),
    prepare: (files) => follower.prepare(files),
    activate: () => follower.activate(),
    discard: () => follower.discard(),
    metrics: () => metrics.state(),
    targets: () => services.states.report(performance.now()),
  } satisfies ConstructorParameters<typeof RemoteControl>[0]['messages']
  const journal = opened.adopt(openJournal(options.journals, { log: options.log, metrics }), (each) => each.close())
  const remote = new RemoteControl({ socket: folder.control, messages, onDropped: (calls) => dropped.add(calls), journal })
  const control = opened.adopt(remote, (each) => each.close())
  const services = opened.adopt(openServices({ ...options, metrics, control, journal }), (each) => each.close())
  const follower = opened.adopt(new Follower({ ...options, services, loadTimeout: services.times.load }), (each) => each.close())
  const live = await follower.live

  const health = healthRouter(services.unready).routes() as Middleware
  const paths = {
    clients: [...crossOrigin(options.corsOrigins), apiPaths({ ...services, live })],
    operators: [health, forwardTo(folder.console)],
  }
  const tls = options.tls ? new TlsTermination() : undefined
  const ownSocket = (name: ListenerName) => ({ path: folder.listener(process, name) })
  const listen = ownSocket('clients')
  const listeners = await openListeners(services, paths, {
    listen,
    ...(options.adminListen && { adminListen: ownSocket('operators') }),
    tls,
  })

  const running = opened.move()
  async function close(): Promise<void> {
    await remote.leave(process, await metrics.state())
    await running.disposeAsync()
  }
  /** Once: a second drain, with less time, ends when all is closed too. */
  let closing: Promise<void> | undefined
  async function drain({ delay: notice, grace }: DrainTimes): Promise<void> {
    services.lifecycle.phase = 'draining'
    await delay(notice)
    await listeners.stop(grace)
    closing ??= close()
    await closing
  }
  return {
    accept: listeners.accept,
    useCertificate: (certificate) => tls?.use(certificate),
    drain,
    async leave(grace) {
      if (services.lifecycle.phase === 'serving') services.lifecycle.phase = 'leaving'
      remote.leaving()
      await delay(LEAVE_MS)
      await listeners.empty(grace)
      await drain({ delay: 0, grace: 0 })
    },
  }
}
