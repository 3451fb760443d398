import { setFlagsFromString } from 'node:v8'
import { type OpenIdProvider, openIdProvider } from '../../accounts/openid.ts'
import type { ManagementOptions } from '../../control/services.ts'
import { type Gateway, startGateway } from '../../gateway/gateway.ts'
import type { Listen } from '../../http/server.ts'
import { createLog, type Log, type LogLevel } from '../../observe/log.ts'
import { Secret } from '../../sdk/api.ts'
import { databaseUrl, openStore, type Store } from '../../store/database.ts'
import { ConfigError } from '../../text/diagnostic.ts'
import type { CommandIo } from '../output.ts'
import { printConfigError } from '../validation-report.ts'
import { createFirstAccess, type FirstAccess, formatWelcome } from './first-start.ts'

/** The options of `umg start`. */
export interface StartOptions {
  readonly routes: string
  readonly host: string
  readonly port: number
  readonly data: string
  readonly database?: string
  readonly workers: number
  readonly adminListen?: Listen
  /** Seconds. */
  readonly drainDelay: number
  /** Seconds. */
  readonly grace: number
  /** Milliseconds. */
  readonly keepRequests: number
  /** Milliseconds. */
  readonly keepUsage: number
  readonly logLevel: LogLevel
  readonly metricsToken?: string
  readonly publicUrl?: string
  readonly consoleUrl?: string
  readonly trustedProxies?: readonly string[]
  readonly oidcIssuer?: string
  readonly oidcClientId?: string
  readonly oidcClientSecret?: string
  readonly oidcName?: string
  readonly version: string
}

/** `umg start`: serves until a signal ends it. Resolves to the exit code. */
export async function start(options: StartOptions, io: CommandIo): Promise<number> {
  // Without it, every 64 MB of buffers start a collection of the whole heap: docs/decisions/buffers-are-memory.md.
  setFlagsFromString('--external-memory-accounted-in-global-limit')
  const log = createLog({ level: options.logLevel })
  let gateway: Gateway
  let access: FirstAccess
  try {
    const store = await openStore(databaseUrl(options))
    gateway = await startOn(store, log, options, io).catch(async (error: unknown) => {
      await store.close()
      throw error
    })
    // After the start: a start that fails must not create secrets, which are shown only once.
    access = await createFirstAccess(store, gateway)
  } catch (error) {
    if (error instanceof ConfigError) return printConfigError(error, options.routes, io)
    io.stderr.write(`${describeStartError(error, options)}\n`)
    return 1
  }
  // Before anything is printed: a reader of the output may send a signal at once.
  const ended = untilSignal(gateway, log, options)
  for (const notice of gateway.notices) io.stderr.write(`note: ${notice}\n`)
  if (hasOpenMetrics(options)) io.stderr.write(OPEN_METRICS)
  io.stdout.write(`listening on ${gateway.url}\n`)
  io.stdout.write(formatWelcome(access, gateway.urls))
  const code = await ended
  // Before the exit, which would retry unwritten lines forever if nothing reads them any more.
  await log.flush()
  return code
}

/** Whether other machines can read `/metrics` without a token. */
export function hasOpenMetrics({
  host,
  adminListen,
  metricsToken,
}: Pick<StartOptions, 'host' | 'adminListen' | 'metricsToken'>): boolean {
  return metricsToken === undefined && !LOOPBACK.test(adminListen?.host ?? host)
}

const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|::1)$/i

const OPEN_METRICS =
  'warning: other machines can read /metrics without a token. Set UMG_METRICS_TOKEN, or serve it on --admin-listen 127.0.0.1:9090.\n'

function startOn(store: Store, log: Log, options: StartOptions, io: CommandIo): Promise<Gateway> {
  return startGateway({
    store,
    log,
    routes: options.routes,
    env: io.env,
    listen: options,
    adminListen: options.adminListen,
    version: options.version,
    workerThreads: options.workers,
    retention: { requests: options.keepRequests, usage: options.keepUsage },
    ...(options.metricsToken !== undefined && { metricsToken: new Secret(options.metricsToken) }),
    management: managementOf(options),
  })
}

/** With one listener, the public URL is also the console's. */
function managementOf(options: StartOptions): ManagementOptions {
  const { publicUrl, adminListen, trustedProxies } = options
  const consoleUrl = options.consoleUrl ?? (adminListen === undefined ? publicUrl : undefined)
  const urls = { ...(publicUrl && { clients: publicUrl }), ...(consoleUrl && { people: consoleUrl }) }
  return { urls, openid: openIdOf(options), trustedProxies }
}

function openIdOf({ oidcIssuer, oidcClientId, oidcClientSecret, oidcName }: StartOptions): OpenIdProvider | undefined {
  if (oidcIssuer === undefined) return undefined
  if (oidcClientId === undefined)
    throw new Error("--oidc-issuer needs --oidc-client-id, the gateway's client id at the provider.")
  const clientSecret = oidcClientSecret === undefined ? undefined : new Secret(oidcClientSecret)
  return openIdProvider({ issuer: oidcIssuer, clientId: oidcClientId, clientSecret, name: oidcName })
}

/** Why the gateway cannot start, and what to do. */
function describeStartError(error: unknown, { host, port, adminListen }: StartOptions): string {
  const { code, port: failed } = error as NodeJS.ErrnoException & { port?: number }
  const address = failed === adminListen?.port && failed !== port ? `${adminListen?.host}:${failed}` : `${host}:${port}`
  if (code === 'EADDRINUSE')
    return `${address} is in use: end the process that listens there, or choose another port with --port.`
  if (code === 'EACCES' || code === 'EADDRNOTAVAIL')
    return `Cannot listen on ${address} (${code}): choose another --host or --port.`
  return error instanceof Error ? error.message : String(error)
}

/** npm repeats a signal that the terminal has sent already: signals within this time count as one. */
const SAME_SIGNAL_MS = 1000

/**
 * Drains the gateway on SIGTERM; on SIGINT without the delay for load balancers; a second signal ends the process at once. Drains also
 * on an uncaught exception, which leaves an unknown state. Reloads on SIGHUP. Resolves to the exit code.
 */
function untilSignal(gateway: Gateway, log: Log, options: StartOptions): Promise<number> {
  return new Promise((resolve, reject) => {
    let drainingSince: number | undefined
    const drain = (delay: number, code: number): void => {
      drainingSince = Date.now()
      gateway.drain({ delay: delay * 1000, grace: options.grace * 1000 }).then(() => resolve(code), reject)
    }
    const onSignal = (signal: NodeJS.Signals): void => {
      if (drainingSince === undefined) drain(signal === 'SIGTERM' ? options.drainDelay : 0, 0)
      else if (Date.now() - drainingSince > SAME_SIGNAL_MS) process.exit(1)
    }
    process.on('SIGTERM', onSignal)
    process.on('SIGINT', onSignal)
    process.on('SIGHUP', () => {
      if (drainingSince === undefined) void gateway.reload('signal')
    })
    process.on('uncaughtException', (err) => {
      log.fatal({ err }, 'uncaught exception, shutting down')
      if (drainingSince === undefined) drain(0, 1)
    })
  })
}
