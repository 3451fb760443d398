import { type Command, InvalidArgumentError, Option } from 'commander'
import type { CommandIo } from './io.ts'
import { databaseOption, dataOption } from './options.ts'

// Loaded once a command runs: help needs none of it.
const commands = () => import('./keys.ts')

/** Adds `umg keys …`. */
export function addKeyCommands(umg: Command, io: CommandIo): void {
  const keys = umg.command('keys').description('API keys; works beside running gateways')
  const command = (usage: string, description: string) =>
    keys
      .command(usage)
      .description(description)
      .option('--json', 'print JSON')
      .addOption(dataOption())
      .addOption(databaseOption())

  settings(command('create', 'make a key; its secret is printed once'))
    .requiredOption('--name <name>', 'what the key is for')
    .addOption(new Option('--test', 'a test key: answered by the sandbox, free').conflicts('admin'))
    .option('--admin', 'a key for the management API, which can call no model')
    .option('--account <id>', 'whose it is; see umg accounts list')
    .addHelpText('after', CREATE_EXAMPLES)
    .action(async (options) => {
      process.exitCode = await (await commands()).createKeyCommand(options, io)
    })

  command('list', 'list keys, without their secrets, the newest last')
    .option('--query <text>', 'part of the name or of the first characters, or the last four')
    .addOption(new Option('--status <status>').choices(['active', 'expired', 'revoked']))
    .addOption(new Option('--kind <kind>').choices(['live', 'test', 'admin']))
    .option('--account <id>', 'only of this account')
    .action(async (options) => {
      process.exitCode = await (await commands()).listKeysCommand(options, io)
    })

  settings(command('edit <id>', 'change what a key may do: running gateways know it within a second'))
    .option('--name <name>', 'what the key is for')
    .action(async (id: string, options) => {
      process.exitCode = await (await commands()).editKeyCommand({ ...options, id }, io)
    })

  command('rotate <id>', 'make a key that takes over from this one; its secret is printed once')
    .addOption(
      new Option('--overlap <duration>', 'how long the old one works on: 30m, 24h, 7d; 0 revokes it at once')
        .argParser(overlapOf)
        .default(overlapOf('24h'), '24h'),
    )
    .action(async (id: string, options) => {
      process.exitCode = await (await commands()).rotateKeyCommand({ ...options, id }, io)
    })

  command('revoke <id>', 'revoke a key: running gateways refuse it within a second').action(async (id: string, options) => {
    process.exitCode = await (await commands()).revokeKeyCommand({ ...options, id }, io)
  })
}

/** What `create` and `edit` can say of a key. */
function settings(command: Command): Command {
  return command
    .option('--models <glob...>', 'models it may call, such as "openai/*"')
    .option('--class <class>', 'rate class')
    .option('--expires <when>', 'a date, an instant, or "never"')
    .option('--tags <name=value...>', 'labels for usage and metrics, such as team=research')
}

const CREATE_EXAMPLES = `
Examples:
  umg keys create --name laptop
  umg keys create --name ci --test
  umg keys create --name nightly --models "anthropic/*" --class batch --expires 2027-01-31
  umg keys create --name terraform --admin

The secret is alone on stdout, so that it pipes: umg keys create --name ci > key
`

const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Milliseconds of `90s`, `30m`, `24h`, `7d`, or `0`. */
export function overlapOf(text: string): number {
  const [, amount, unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? []
  if (text === '0') return 0
  if (amount === undefined) throw new InvalidArgumentError('Give a duration: 30m, 24h, 7d, or 0.')
  return Number(amount) * UNITS[unit]!
}
