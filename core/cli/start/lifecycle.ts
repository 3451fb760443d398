import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import type { DrainTimes } from '../../gateway/gateway.ts'
import { CertificateWatch } from '../../http/certificate.ts'
import { isLoopback, type Listen } from '../../http/listen.ts'
import { createLog, type Log, type LogLevel } from '../../observe/log.ts'
import { StoreError, storageError } from '../../store/unavailable.ts'
import type { MetricsExportSettings } from '../../telemetry/metrics-settings.ts'
import type { TracingSettings } from '../../telemetry/trace-settings.ts'
import type { CommandIo } from '../output.ts'

/** The options of `umg start`. */
export interface StartOptions {
  readonly routes: string
  readonly host: string
  readonly port: number
  readonly data: string
  readonly database?: string
  readonly redis?: string
  /** Proxy processes; 1: everything in one process. */
  readonly workers: number
  /** Worker threads of each process. */
  readonly workerThreads: number
  readonly adminListen?: Listen
  readonly tlsCert?: string
  readonly tlsKey?: string
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
  readonly corsOrigins?: readonly string[]
  readonly websockets: 'on' | 'off'
  readonly oidcIssuer?: string
  readonly oidcClientId?: string
  readonly oidcClientSecret?: string
  readonly oidcName?: string
  /** Absent: calls are not traced. */
  readonly tracing?: TracingSettings | undefined
  /** Absent: metrics are not exported. */
  readonly metricsExport?: MetricsExportSettings | undefined
  readonly version: string
}

/** The folder of the journals of calls. */
export const journalsIn = ({ data }: Pick<StartOptions, 'data'>): string => join(data, 'journal')

/** The folder of uploaded files. */
export const uploadsIn = ({ data }: Pick<StartOptions, 'data'>): string => join(data, 'uploads')

/** Sets V8's flags, ignores SIGUSR1, and creates the log. */
export function prepareProcess({ logLevel }: Pick<StartOptions, 'logLevel'>): Log {
  // Without it, every 64 MB of buffers start a collection of the whole heap: docs/decisions/hot-path.md.
  setFlagsFromString('--external-memory-accounted-in-global-limit')
  // Without a listener Node opens its inspector, which runs any code, to all users of this machine.
  process.on('SIGUSR1', () => undefined)
  return createLog({ level: logLevel })
}

/**
 * The certificate of the gateway; undefined if clients connect without TLS. Throws an error that says what to do if the files cannot be used.
 */
export function openCertificate({ tlsCert: cert, tlsKey: key }: StartOptions, log: Log): CertificateWatch | undefined {
  if (cert === undefined && key === undefined) return undefined
  if (cert === undefined) throw new Error('--tls-key needs --tls-cert, the file of the certificate that the key belongs to.')
  if (key === undefined) throw new Error('--tls-cert needs --tls-key, the file of the private key of the certificate.')
  return new CertificateWatch({ cert, key }, log)
}

/** What is printed when the gateway serves. */
interface Started {
  readonly url: string
  readonly notices: readonly string[]
  /** How to use the gateway. */
  readonly welcome: string
}

/** Prints where the gateway listens, its notices, and how to use it. */
export function printStarted({ url, notices, welcome }: Started, options: StartOptions, { stdout, stderr }: CommandIo): void {
  for (const notice of notices) stderr.write(`note: ${notice}\n`)
  const warnings = [untestedNode(process.versions.node), ...exposures(options)].filter((text) => text !== undefined)
  for (const warning of warnings) stderr.write(`warning: ${warning}\n`)
  stdout.write(`listening on ${url}\n`)
  stdout.write(welcome)
}

/** Prints why the gateway cannot start, and what to do. Returns the exit code. */
export function printStartError(error: unknown, options: StartOptions, io: CommandIo): number {
  io.stderr.write(`${describeStartError(error, options)}\n`)
  return 1
}

/** Why the gateway cannot start, and what to do. */
function describeStartError(error: unknown, { host, port, adminListen }: StartOptions): string {
  const { code, port: failed, address: path } = error as NodeJS.ErrnoException & { port?: number; address?: string }
  if (failed === undefined && path?.startsWith('/'))
    return `Cannot listen on the socket ${path} (${code}): see that its folder can be written to.`
  const address = failed === adminListen?.port && failed !== port ? `${adminListen?.host}:${failed}` : `${host}:${port}`
  if (code === 'EADDRINUSE')
    return `${address} is in use: end the process that listens there, or choose another port with --port.`
  if (code === 'EACCES' || code === 'EADDRNOTAVAIL')
    return `Cannot listen on ${address} (${code}): choose another --host or --port.`
  const message = error instanceof Error ? error.message : String(error)
  // The message of a StoreError says what to do.
  if (error instanceof StoreError || storageError(error) === undefined) return message
  return `The database answers too slowly or not at all (${message}). See that its server and the network work and that nothing locks its tables, then start the gateway again.`
}

/** npm repeats a signal that the terminal has sent already: signals within this time count as one. */
const SAME_SIGNAL_MS = 1000

/** After a second signal the process ends within this time, whatever does not close. */
const LAST_MS = 5000

/** What signals do to a gateway. */
interface Signalled {
  reload(trigger: 'signal'): unknown
  /** May be called again, with less time. */
  drain(times: DrainTimes): Promise<void>
}

/** How a gateway ends. */
interface Ending {
  /** The exit code, when it has ended. */
  readonly code: Promise<number>
  /** `delay`: seconds. */
  drain(delay: number, code: number): void
}

/**
 * Drains the gateway on SIGTERM; on SIGINT without the delay for load balancers; a second signal ends open calls at once, with an error.
 * Reloads on SIGHUP.
 */
export function untilSignal(
  gateway: Signalled,
  { drainDelay, grace }: Pick<StartOptions, 'drainDelay' | 'grace'>,
  log: Log,
): Ending {
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  let drainingSince: number | undefined
  let exitCode = 0
  const drainWithin = (times: DrainTimes): void => {
    gateway.drain(times).then(() => resolve(exitCode), reject)
  }
  const drain = (delay: number, code: number): void => {
    if (drainingSince !== undefined) return
    drainingSince = Date.now()
    exitCode = code
    log.info({ delay_s: delay, grace_s: grace }, 'draining: open calls may end, a second signal ends them now')
    drainWithin({ delay: delay * 1000, grace: grace * 1000 })
  }
  const onSignal = (signal: NodeJS.Signals): void => {
    if (drainingSince === undefined) drain(signal === 'SIGTERM' ? drainDelay : 0, 0)
    else if (Date.now() - drainingSince > SAME_SIGNAL_MS) {
      exitCode = 1
      drainWithin({ delay: 0, grace: 0 })
      setTimeout(() => process.exit(exitCode), LAST_MS).unref()
    }
  }
  process.on('SIGTERM', onSignal)
  process.on('SIGINT', onSignal)
  process.on('SIGHUP', () => {
    if (drainingSince === undefined) void gateway.reload('signal')
  })
  return { code: promise, drain }
}

/** The major versions of Node that the tests run on: those with long-term support. */
export const TESTED_NODE = [24, 26]

/** The warning about a version of Node, such as `26.10.0`, that the tests do not run on; undefined for another. */
export function untestedNode(version: string): string | undefined {
  if (TESTED_NODE.includes(Number.parseInt(version, 10))) return undefined
  return `this is Node ${version}, but the gateway is tested with Node ${TESTED_NODE.join(' and ')}: run it on one of them.`
}

/** Why no call can be served on this Node, with this undici, and what to do; undefined if it can. */
export async function unfitNode(): Promise<string | undefined> {
  // A module of undici that is gone has its own message.
  const missing = await import('../../internals.ts').then(
    ({ missingInternals }) => missingInternals(),
    ({ message }: Error) => [message],
  )
  if (missing.length === 0) return undefined
  return `Node ${process.versions.node}, or the undici that is installed, lacks what the gateway needs: ${missing.join('; ')}. Run Node ${TESTED_NODE.join(' or ')}, and install the packages of the gateway in the versions that it locks.`
}

/** The options that decide what other machines can see. */
interface Exposing {
  readonly host: string
  readonly adminListen?: Listen
  readonly metricsToken?: string
  readonly tlsCert?: string
  readonly publicUrl?: string
  readonly consoleUrl?: string
  readonly database?: string
  readonly redis?: string
}

/** Warnings about what other machines can see of a gateway, each with what to do. */
export function exposures(options: Exposing): readonly string[] {
  const { database, redis } = options
  return [
    ...(isPlain(options) ? [PLAIN] : []),
    ...(hasOpenMetrics(options) ? [OPEN_METRICS] : []),
    ...(database !== undefined && isPlainDatabase(database) ? [PLAIN_DATABASE] : []),
    ...(redis !== undefined && isPlainRedis(redis) ? [PLAIN_REDIS] : []),
  ]
}

const PLAIN =
  'other machines connect without TLS, so that keys and answers can be read on their way. ' +
  'Set --tls-cert and --tls-key, or put a proxy with TLS in front and set --public-url to its https address.'

const OPEN_METRICS =
  'other machines can read /metrics without a token. Set UMG_METRICS_TOKEN, or serve it on --admin-listen 127.0.0.1:9090.'

const PLAIN_DATABASE =
  'the connection to the database on another machine is without TLS, so that digests of keys, and what users do, can be read on their way. ' +
  'Add sslmode=verify-full to --database.'

const PLAIN_REDIS =
  'the connection to Redis on another machine is without TLS, so that its password and all counters can be read on their way, and changed. ' +
  'Write rediss:// in --redis.'

/** By its `sslmode`, as `pg-connection-string` reads it: without one, and with `disable`, there is no TLS. */
function isPlainDatabase(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^postgres(ql)?:$/.test(url.protocol) || isLocal(url.searchParams.get('host') ?? url.hostname))
    return false
  return (url.searchParams.get('sslmode') ?? 'disable') === 'disable' && !/^(1|true)$/.test(url.searchParams.get('ssl') ?? '')
}

function isPlainRedis(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined
  return url?.protocol === 'redis:' && !isLocal(url.hostname)
}

/** This machine, or a socket in its file system: `%2Fvar%2Frun`. */
const isLocal = (hostname: string): boolean => hostname === '' || /^(%2f|\/)/i.test(hostname) || isLoopback(hostname)

/** Whether other machines connect without TLS, as far as the options tell. */
function isPlain({ host, adminListen, tlsCert, publicUrl, consoleUrl }: Exposing): boolean {
  if (tlsCert !== undefined) return false
  const isOpen = !isLoopback(host) || (adminListen !== undefined && !isLoopback(adminListen.host))
  return isOpen && ![publicUrl, consoleUrl].some((url) => url !== undefined && isPrivate(new URL(url)))
}

/** What is ended by TLS at this address, or reached on this machine only. */
const isPrivate = ({ protocol, hostname }: URL): boolean => protocol === 'https:' || isLoopback(hostname)

function hasOpenMetrics({ host, adminListen, metricsToken }: Exposing): boolean {
  return metricsToken === undefined && !isLoopback(adminListen?.host ?? host)
}
