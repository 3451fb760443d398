import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { Command, InvalidArgumentError, Option } from 'commander'
import { addGatewayCommands } from './commands/gateway-commands.ts'
import { addTableCommands } from './commands/table-commands.ts'
import type { Listen } from './http/server.ts'

// Each command loads its own code: help, and a command about keys, need no gateway.
const keysCommands = () => import('./commands/keys.ts')

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }

const START_EXAMPLES = `
Examples:
  umg start --port 9000 --routes ./routes.yaml
  umg start --host 0.0.0.0 --admin-listen 127.0.0.1:9090
`

const io = { env: process.env, stdout: process.stdout, stderr: process.stderr }

const dataOption = () => new Option('--data <dir>', 'folder of the embedded database').env('UMG_DATA').default('data')
const databaseOption = () => new Option('--database <url>', 'sqlite:PATH').env('UMG_DATABASE_URL')

const umg = new Command('umg')
  .description('Unified Model Gateway: any OpenAI SDK, one address, one key, any model.')
  .version(version)
  .showHelpAfterError('(umg --help shows what there is)')
  // 1 is what a command says of what it was asked about; 2, that it was not asked rightly.
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))

umg
  .command('start')
  .description('serve')
  .addOption(new Option('--routes <file>', 'the routing table').env('UMG_ROUTES').default('routes.yaml'))
  .addOption(new Option('--host <host>', 'address to listen on').env('UMG_HOST').default('127.0.0.1'))
  .addOption(
    new Option('--port <port>', 'port to listen on; 0 picks a free one (UMG_PORT, or else PORT)')
      .env('UMG_PORT' in process.env ? 'UMG_PORT' : 'PORT')
      .argParser(toPort)
      .default(8080),
  )
  .addOption(dataOption())
  .addOption(databaseOption())
  .addOption(new Option('--workers <n>', 'worker threads').env('UMG_WORKERS').argParser(toCount).default(availableParallelism()))
  .addOption(
    new Option('--admin-listen <host:port>', 'a listener of its own for /metrics, /livez and /readyz')
      .env('UMG_ADMIN_LISTEN')
      .argParser(toListen),
  )
  .addOption(
    new Option('--drain-delay <seconds>', 'after SIGTERM, go on accepting this long')
      .env('UMG_DRAIN_DELAY')
      .argParser(toSeconds)
      .default(5),
  )
  .addOption(
    new Option('--grace <seconds>', 'then wait this long for calls under way').env('UMG_GRACE').argParser(toSeconds).default(30),
  )
  .addOption(
    new Option('--log-level <level>')
      .env('UMG_LOG_LEVEL')
      .choices(['trace', 'debug', 'info', 'warn', 'error', 'silent'])
      .default('info'),
  )
  .addHelpText('after', START_EXAMPLES)
  .action(async (options) => {
    const { start } = await import('./commands/start.ts')
    end(await start({ ...options, version, metricsToken: process.env.UMG_METRICS_TOKEN }, io))
  })

addTableCommands(umg, io, end)
addGatewayCommands(umg, io, end)

const keys = umg.command('keys').description('API keys; works beside a running gateway')

keys
  .command('create')
  .description('make a key; its secret is printed once')
  .requiredOption('--name <name>', 'what the key is for')
  .option('--test', 'a test key: answered by the sandbox, free')
  .option('--models <glob...>', 'models it may call, such as "openai/*"')
  .option('--class <class>', 'rate class')
  .option('--expires <when>', 'a date or an instant')
  .option('--json', 'print JSON')
  .addOption(dataOption())
  .addOption(databaseOption())
  .action(async (options) => {
    const { createKeyCommand } = await keysCommands()
    process.exitCode = await createKeyCommand(options, io)
  })

keys
  .command('list')
  .description('list keys, without their secrets')
  .option('--json', 'print JSON')
  .addOption(dataOption())
  .addOption(databaseOption())
  .action(async (options) => {
    const { listKeysCommand } = await keysCommands()
    process.exitCode = await listKeysCommand(options, io)
  })

keys
  .command('revoke')
  .description('revoke a key: running gateways refuse it within a second')
  .argument('<id>', 'key_…, as umg keys list shows it')
  .option('--json', 'print JSON')
  .addOption(dataOption())
  .addOption(databaseOption())
  .action(async (id: string, options) => {
    const { revokeKeyCommand } = await keysCommands()
    process.exitCode = await revokeKeyCommand({ ...options, id }, io)
  })

await umg.parseAsync()

/** Ends a process in which plugins ran: one may have left a timer or a socket behind, which would keep it for ever. */
function end(code: number): never {
  process.exit(code)
}

function toPort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
  if (!(port <= 65535)) throw new InvalidArgumentError('A port is a number from 0 to 65535.')
  return port
}

function toCount(text: string): number {
  const count = Number(text)
  if (!Number.isInteger(count) || count < 1) throw new InvalidArgumentError('Give a number from 1.')
  return count
}

function toSeconds(text: string): number {
  const seconds = Number(text)
  if (!Number.isFinite(seconds) || seconds < 0) throw new InvalidArgumentError('Give a number of seconds.')
  return seconds
}

function toListen(text: string): Listen {
  const colon = text.lastIndexOf(':')
  if (colon < 1) throw new InvalidArgumentError('Give HOST:PORT, such as 127.0.0.1:9090.')
  return { host: text.slice(0, colon).replace(/^\[|\]$/g, ''), port: toPort(text.slice(colon + 1)) }
}
