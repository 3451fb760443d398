import { setFlagsFromString } from 'node:v8'
import { type OpenIdProvider, openIdProvider } from '../accounts/openid.ts'
import type { ManagementOptions } from '../control/services.ts'
import { type Gateway, startGateway } from '../gateway/gateway.ts'
import type { Listen } from '../http/server.ts'
import { createLog, type Log, type LogLevel } from '../observe/log.ts'
import { Secret } from '../sdk/api.ts'
import { databaseUrl, openStore, type Store } from '../store/database.ts'
import { ConfigError } from '../text/diagnostic.ts'
import { type Beginning, prepareBeginning, welcome } from './first-start.ts'
import type { CommandIo } from './io.ts'
import { printConfigError } from './validate.ts'

/** What `umg start` takes. */
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
  // Else every 64 MB of buffers begin a collection of the whole heap: docs/decisions/buffers-are-memory.md.
  setFlagsFromString('--external-memory-accounted-in-global-limit')
  const log = createLog({ level: options.logLevel })
  let gateway: Gateway
  let beginning: Beginning
  try {
    const store = await openStore(databaseUrl(options))
    gateway = await serve(options, { store, log }, io).catch(async (error: unknown) => {
      await store.close()
      throw error
    })
    // Once it serves: a start that fails must not use up what is shown once.
    beginning = await prepareBeginning(store, gateway)
  } catch (error) {
    if (error instanceof ConfigError) return printConfigError(error, options.routes, io)
    io.stderr.write(`${explain(error, options)}\n`)
    return 1
  }
  // Before a word of it is said: whoever reads that line may send a signal.
  const end = ended(gateway, log, options)
  for (const notice of gateway.notices) io.stderr.write(`note: ${notice}\n`)
  if (hasOpenMetrics(options)) io.stderr.write(OPEN_METRICS)
  io.stdout.write(`listening on ${gateway.url}\n`)
  io.stdout.write(welcome(beginning, gateway.urls))
  const code = await end
  // Not left to the exit: what is unwritten then is tried again for ever where nobody reads it any more.
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

function serve(options: StartOptions, parts: { readonly store: Store; readonly log: Log }, io: CommandIo): Promise<Gateway> {
  return startGateway({
    ...parts,
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

/** Where one listener serves both, people reach the console where clients reach the gateway. */
function managementOf(options: StartOptions): ManagementOptions {
  const { publicUrl, adminListen, trustedProxies } = options
  const consoleUrl = options.consoleUrl ?? (adminListen === undefined ? publicUrl : undefined)
  const urls = { ...(publicUrl && { clients: publicUrl }), ...(consoleUrl && { people: consoleUrl }) }
  return { urls, openid: openIdOf(options), trustedProxies }
}

function openIdOf({ oidcIssuer, oidcClientId, oidcClientSecret, oidcName }: StartOptions): OpenIdProvider | undefined {
  if (oidcIssuer === undefined) return undefined
  if (oidcClientId === undefined) throw new Error('--oidc-issuer needs --oidc-client-id: what the provider knows the gateway by.')
  const clientSecret = oidcClientSecret === undefined ? undefined : new Secret(oidcClientSecret)
  return openIdProvider({ issuer: oidcIssuer, clientId: oidcClientId, clientSecret, name: oidcName })
}

/** What keeps the gateway from starting, and what to do. */
function explain(error: unknown, { host, port, adminListen }: StartOptions): string {
  const { code, port: taken } = error as NodeJS.ErrnoException & { port?: number }
  const address = taken === adminListen?.port && taken !== port ? `${adminListen?.host}:${taken}` : `${host}:${port}`
  if (code === 'EADDRINUSE') return `${address} is in use: end what listens there, or choose another port with --port.`
  if (code === 'EACCES' || code === 'EADDRNOTAVAIL')
    return `Cannot listen on ${address} (${code}): choose another --host or --port.`
  return error instanceof Error ? error.message : String(error)
}

/** npm passes a signal on that the terminal has sent already: within a second they are one. */
const ONE_SIGNAL_MS = 1000

/**
 * SIGTERM drains, SIGINT does so without waiting for load balancers; another signal ends it at once. An error that nobody caught
 * drains too: what it left behind is not known. SIGHUP reloads. Resolves to the exit code.
 */
function ended(gateway: Gateway, log: Log, options: StartOptions): Promise<number> {
  return new Promise((resolve, reject) => {
    let endingSince: number | undefined
    const end = (delay: number, code: number): void => {
      endingSince ??= Date.now()
      gateway.drain({ delay: delay * 1000, grace: options.grace * 1000 }).then(() => resolve(code), reject)
    }
    const onSignal = (signal: NodeJS.Signals): void => {
      if (endingSince === undefined) end(signal === 'SIGTERM' ? options.drainDelay : 0, 0)
      else if (Date.now() - endingSince > ONE_SIGNAL_MS) process.exit(1)
    }
    process.on('SIGTERM', onSignal)
    process.on('SIGINT', onSignal)
    process.on('SIGHUP', () => {
      if (endingSince === undefined) void gateway.reload('signal')
    })
    process.on('uncaughtException', (err) => {
      log.fatal({ err }, 'an error that nobody caught; the gateway ends')
      if (endingSince === undefined) end(0, 1)
    })
  })
}
