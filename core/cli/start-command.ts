import { availableParallelism } from 'node:os'
import { type Command, Option } from 'commander'
import { DEFAULT_RETENTION } from '../usage/retention.ts'
import type { CommandIo } from './io.ts'
import {
  databaseOption,
  dataOption,
  toCount,
  toIssuer,
  toKeep,
  toListen,
  toNetworks,
  toOrigin,
  toPort,
  toSeconds,
} from './options.ts'

/** Adds `umg start`. `end` ends the process, whatever plugins have left behind in it. */
export function addStartCommand(umg: Command, io: CommandIo, end: (code: number) => Promise<void>): void {
  const { env } = io
  const command = umg.command('start').description('serve')
  for (const option of [...serving(env), ...people()]) command.addOption(option)
  command.addHelpText('after', EXAMPLES).action(async (options) => {
    const { start } = await import('./start.ts')
    const secrets = { metricsToken: env.UMG_METRICS_TOKEN, oidcClientSecret: env.UMG_OIDC_CLIENT_SECRET }
    await end(await start({ ...options, ...secrets, version: umg.version()! }, io))
  })
}

/** Where and how calls are served. */
const serving = (env: NodeJS.ProcessEnv): readonly Option[] => [
  new Option('--routes <file>', 'the routing table').env('UMG_ROUTES').default('routes.yaml'),
  new Option('--host <host>', 'address to listen on').env('UMG_HOST').default('127.0.0.1'),
  new Option('--port <port>', 'port to listen on; 0 picks a free one (UMG_PORT, or else PORT)')
    .env('UMG_PORT' in env ? 'UMG_PORT' : 'PORT')
    .argParser(toPort)
    .default(8080),
  dataOption(),
  databaseOption(),
  new Option('--workers <n>', 'worker threads').env('UMG_WORKERS').argParser(toCount).default(availableParallelism()),
  new Option('--admin-listen <host:port>', 'a second listener, for everything; the first one then serves /v1 alone')
    .env('UMG_ADMIN_LISTEN')
    .argParser(toListen),
  new Option('--drain-delay <seconds>', 'after SIGTERM, go on accepting this long')
    .env('UMG_DRAIN_DELAY')
    .argParser(toSeconds)
    .default(5),
  new Option('--grace <seconds>', 'then wait this long for calls under way').env('UMG_GRACE').argParser(toSeconds).default(30),
  new Option('--keep-requests <time>', 'how long requests are remembered: 12h, 30d')
    .env('UMG_KEEP_REQUESTS')
    .argParser(toKeep)
    .default(DEFAULT_RETENTION.requests, '30d'),
  new Option('--keep-usage <time>', 'how long their sums of each day are')
    .env('UMG_KEEP_USAGE')
    .argParser(toKeep)
    .default(DEFAULT_RETENTION.usage, '400d'),
  new Option('--log-level <level>')
    .env('UMG_LOG_LEVEL')
    .choices(['trace', 'debug', 'info', 'warn', 'error', 'silent'])
    .default('info'),
]

/** How people reach the console, and sign in to it. */
const people = (): readonly Option[] => [
  new Option('--public-url <url>', 'where clients reach the gateway, if not where it listens')
    .env('UMG_PUBLIC_URL')
    .argParser(toOrigin),
  new Option('--console-url <url>', 'where people reach the console, if not there').env('UMG_CONSOLE_URL').argParser(toOrigin),
  new Option('--trusted-proxies <networks>', 'proxies whose X-Forwarded-For is true: 10.0.0.0/8,192.168.1.7')
    .env('UMG_TRUSTED_PROXIES')
    .argParser(toNetworks),
  new Option('--oidc-issuer <url>', 'an OpenID provider that people may sign in by').env('UMG_OIDC_ISSUER').argParser(toIssuer),
  new Option('--oidc-client-id <id>', 'what the provider knows the gateway by; UMG_OIDC_CLIENT_SECRET proves it').env(
    'UMG_OIDC_CLIENT_ID',
  ),
  new Option('--oidc-name <name>', 'what people call the provider').env('UMG_OIDC_NAME'),
]

const EXAMPLES = `
Examples:
  umg start --port 9000 --routes ./routes.yaml
  umg start --host 0.0.0.0 --admin-listen 127.0.0.1:9090
  umg start --database postgres://umg@db.internal/umg --public-url https://llm.example.com
`
