import { availableParallelism } from 'node:os'
import { type Command, Option } from 'commander'
import { assignmentOf } from '../../gateway/supervised.ts'
import { metricsExportSettings } from '../../telemetry/metrics-settings.ts'
import { tracingSettings } from '../../telemetry/trace-settings.ts'
import { DEFAULT_RETENTION } from '../../usage/retention.ts'
import {
  databaseOption,
  dataOption,
  examples,
  toCount,
  toIssuer,
  toListen,
  toNetworks,
  toOrigin,
  toOrigins,
  toPort,
  toRedis,
  toRetention,
  toSeconds,
} from '../options.ts'
import type { CommandIo } from '../output.ts'
import { writeStarterRoutes } from '../project/starter-routes.ts'
import type { StartOptions } from './lifecycle.ts'

/** Adds `umg start`. `end` ends the process, also if plugins have left timers or sockets open. */
export function addStartCommand(umg: Command, io: CommandIo, end: (code: number) => Promise<void>): void {
  const { env } = io
  const command = umg.command('start').description('start the gateway')
  for (const option of [...gatewayOptions(env), ...consoleOptions()]) command.addOption(option)
  command.addHelpText('after', START_EXAMPLES).action(async (options) => {
    if (command.getOptionValueSource('routes') === 'default' && writeStarterRoutes(options.routes)) io.stderr.write(WROTE_ROUTES)
    for (const name of SECRET_URLS) if (command.getOptionValueSource(name) === 'cli') warnOfPassword(name, options[name], io)
    const secrets = { metricsToken: env.UMG_METRICS_TOKEN, oidcClientSecret: env.UMG_OIDC_CLIENT_SECRET }
    const workerThreads = Math.max(1, Math.floor(availableParallelism() / options.workers))
    const telemetry = telemetryOf(command, env)
    if (telemetry.tracing?.contentLimit !== undefined && assignmentOf(env) === undefined) io.stderr.write(CAPTURES_CONTENT)
    await end(await run({ ...options, ...secrets, ...telemetry, workerThreads, version: umg.version()! }, io))
  })
}

/** OpenTelemetry's variables are not options: their names are the same for all programs. */
function telemetryOf(command: Command, env: NodeJS.ProcessEnv): Pick<StartOptions, 'tracing' | 'metricsExport'> {
  try {
    return { tracing: tracingSettings(env), metricsExport: metricsExportSettings(env) }
  } catch (error) {
    return command.error(`error: ${(error as Error).message}`)
  }
}

const WROTE_ROUTES = 'note: there was no routes.yaml here, so one was written, with comments; the gateway follows its changes\n'

const CAPTURES_CONTENT = 'note: spans have prompts and answers, as OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT says\n'

/** The options whose URLs may hold a password. */
const SECRET_URLS = ['database', 'redis'] as const

/** Warns that the list of processes shows the password of an option, unless a supervisor has done so. */
function warnOfPassword(name: (typeof SECRET_URLS)[number], url: string, { env, stderr }: CommandIo): void {
  if (!URL.parse(url)?.password || assignmentOf(env) !== undefined) return
  const variable = name === 'database' ? 'UMG_DATABASE_URL' : 'UMG_REDIS'
  stderr.write(
    `warning: other users of this machine can read the password of --${name} in the list of processes: set ${variable} or ${variable}_FILE instead.\n`,
  )
}

/** Imports only what this process needs: a supervisor is small. */
async function run(options: StartOptions, io: CommandIo): Promise<number> {
  const assignment = assignmentOf(io.env)
  if (assignment === undefined && options.workers > 1) return (await import('./supervise.ts')).supervise(options, io)
  const unfit = await (await import('./lifecycle.ts')).unfitNode()
  if (unfit !== undefined) {
    io.stderr.write(`${unfit}\n`)
    return 1
  }
  if (assignment !== undefined) return (await import('./supervised.ts')).startSupervised(assignment, options, io)
  return (await import('./start.ts')).start(options, io)
}

const gatewayOptions = (env: NodeJS.ProcessEnv): readonly Option[] => [
  new Option('--routes <file>', 'the routing table').env('UMG_ROUTES').default('routes.yaml'),
  new Option('--host <host>', 'address to listen on').env('UMG_HOST').default('127.0.0.1'),
  new Option('--port <port>', 'port to listen on; 0 picks a free one (UMG_PORT, or else PORT)')
    .env('UMG_PORT' in env ? 'UMG_PORT' : 'PORT')
    .argParser(toPort)
    .default(8080),
  dataOption(),
  databaseOption(),
  new Option('--redis <url>', 'Redis or Valkey for limits that several gateways share; else the database has them')
    .env('UMG_REDIS')
    .argParser(toRedis),
  new Option(
    '--workers <n>',
    'processes that serve calls, or auto: one for each core, 4 at most; 1 runs everything in one process',
  )
    .env('UMG_WORKERS')
    .argParser(toWorkers)
    .default(autoWorkers(), 'auto'),
  new Option('--admin-listen <host:port>', 'a second listener, for all paths; the first one then serves only /v1')
    .env('UMG_ADMIN_LISTEN')
    .argParser(toListen),
  new Option('--tls-cert <file>', 'certificate, with its chain, in PEM: clients connect by https').env('UMG_TLS_CERT'),
  new Option('--tls-key <file>', 'private key of the certificate, in PEM').env('UMG_TLS_KEY'),
  new Option('--cors-origins <origins>', 'origins whose web pages may call /v1, separated by commas: https://chat.example.com')
    .env('UMG_CORS_ORIGINS')
    .argParser(toOrigins),
  new Option('--websockets <mode>', 'whether clients may open WebSockets at /v1/responses')
    .env('UMG_WEBSOCKETS')
    .choices(['on', 'off'])
    .default('on'),
  new Option('--drain-delay <seconds>', 'after SIGTERM, how long new connections are still accepted')
    .env('UMG_DRAIN_DELAY')
    .argParser(toSeconds)
    .default(5),
  new Option('--grace <seconds>', 'after that, how long open calls may take').env('UMG_GRACE').argParser(toSeconds).default(30),
  new Option('--keep-requests <time>', 'how long requests are stored: 12h, 30d')
    .env('UMG_KEEP_REQUESTS')
    .argParser(toRetention)
    .default(DEFAULT_RETENTION.requests, '30d'),
  new Option('--keep-usage <time>', 'how long their daily totals are stored')
    .env('UMG_KEEP_USAGE')
    .argParser(toRetention)
    .default(DEFAULT_RETENTION.usage, '400d'),
  new Option('--log-level <level>')
    .env('UMG_LOG_LEVEL')
    .choices(['trace', 'debug', 'info', 'warn', 'error', 'silent'])
    .default('info'),
]

/** The most processes that `auto` starts. */
const MAX_AUTO_WORKERS = 4

/** One process for each core that this process may use; libuv observes the limits of its cgroup. */
const autoWorkers = (): number => Math.min(availableParallelism(), MAX_AUTO_WORKERS)

const toWorkers = (text: string): number => (text === 'auto' ? autoWorkers() : toCount(text))

const consoleOptions = (): readonly Option[] => [
  new Option('--public-url <url>', 'URL of the gateway for clients, if not where it listens')
    .env('UMG_PUBLIC_URL')
    .argParser(toOrigin),
  new Option('--console-url <url>', 'URL of the console, if different').env('UMG_CONSOLE_URL').argParser(toOrigin),
  new Option('--trusted-proxies <networks>', 'proxies whose X-Forwarded-For is trusted: 10.0.0.0/8,192.168.1.7')
    .env('UMG_TRUSTED_PROXIES')
    .argParser(toNetworks),
  new Option('--oidc-issuer <url>', 'an OpenID provider for signing in').env('UMG_OIDC_ISSUER').argParser(toIssuer),
  new Option('--oidc-client-id <id>', "the gateway's client id at the provider; its secret is UMG_OIDC_CLIENT_SECRET").env(
    'UMG_OIDC_CLIENT_ID',
  ),
  new Option('--oidc-name <name>', 'display name of the provider').env('UMG_OIDC_NAME'),
]

const START_EXAMPLES = examples([
  'umg start --port 9000 --routes ./routes.yaml',
  'umg start --host 0.0.0.0 --admin-listen 127.0.0.1:9090',
  'umg start --database postgres://umg@db.internal/umg --public-url https://llm.example.com',
  'OTEL_EXPORTER_OTLP_ENDPOINT=http://localhost:4318 umg start',
])
