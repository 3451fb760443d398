import { type Command, Option } from 'commander'
import { addStoreCommand, examples, jsonOption, toOverlap } from '../options.ts'
import type { CommandIo } from '../output.ts'

// Loaded when a command runs: help does not need it.
const keys = () => import('./keys.ts')
const declared = () => import('./declared.ts')

/** Adds `umg keys …`. */
export function addKeyCommands(umg: Command, io: CommandIo): void {
  const parent = umg.command('keys').description('manage API keys; works while gateways run')
  const command = (usage: string, description: string) => addStoreCommand(parent, usage, description)

  addSettings(command('create', 'create a key and print its secret, once'))
    .requiredOption('--name <name>', 'what the key is for')
    .addOption(new Option('--test', 'a test key: answered by the sandbox, free').conflicts('admin'))
    .option('--admin', 'a key for the management API, which can call no model')
    .option('--account <id>', 'the account that owns the key; see umg accounts list')
    .addHelpText('after', CREATE_EXAMPLES)
    .action(async (options) => {
      process.exitCode = await (await keys()).createKeyCommand(options, io)
    })

  command(
    'list',
    'list the keys in the database, without their secrets, the newest last; those of routes.yaml are in the console',
  )
    .option('--query <text>', 'part of the name or of the first characters, or the last four')
    .addOption(new Option('--status <status>').choices(['active', 'disabled', 'expired', 'revoked']))
    .addOption(new Option('--kind <kind>').choices(['live', 'test', 'admin']))
    .option('--account <id>', 'only keys of this account')
    .addHelpText('after', examples(['umg keys list', 'umg keys list --status active --query ci']))
    .action(async (options) => {
      process.exitCode = await (await keys()).listKeysCommand(options, io)
    })

  addSettings(command('edit <id>', 'change the settings of a key; gateways apply them within a second'))
    .option('--name <name>', 'what the key is for')
    .addHelpText('after', EDIT_EXAMPLES)
    .action(async (id: string, options) => {
      process.exitCode = await (await keys()).editKeyCommand({ ...options, id }, io)
    })

  command('rotate <id>', 'create a key that replaces this one, and print its secret, once')
    .addOption(
      new Option('--overlap <duration>', 'how long the old key stays valid: 30m, 24h, 7d; 0 revokes it at once')
        .argParser(toOverlap)
        .default(toOverlap('24h'), '24h'),
    )
    .addHelpText('after', examples(['umg keys rotate key_7Fq2mN4x', 'umg keys rotate key_7Fq2mN4x --overlap 7d']))
    .action(async (id: string, options) => {
      process.exitCode = await (await keys()).rotateKeyCommand({ ...options, id }, io)
    })

  command('revoke <id>', 'revoke a key; gateways refuse it within a second')
    .addHelpText('after', examples(['umg keys revoke key_7Fq2mN4x']))
    .action(async (id: string, options) => {
      process.exitCode = await (await keys()).revokeKeyCommand({ ...options, id }, io)
    })

  command('disable <id>', 'suspend a key; gateways refuse it within a second, until it is enabled')
    .addHelpText('after', examples(['umg keys disable key_7Fq2mN4x']))
    .action(async (id: string, options) => {
      process.exitCode = await (await keys()).disableKeyCommand({ ...options, id }, io)
    })

  command('enable <id>', 'accept a disabled key again')
    .addHelpText('after', examples(['umg keys enable key_7Fq2mN4x']))
    .action(async (id: string, options) => {
      process.exitCode = await (await keys()).enableKeyCommand({ ...options, id }, io)
    })

  parent
    .command('generate')
    .description('make a key for keys: of routes.yaml, and print its secret, once; nothing is stored')
    .addOption(jsonOption())
    .option('--test', 'a test key: answered by the sandbox, free')
    .addHelpText('after', examples(['umg keys generate > nightly.key', 'umg keys generate --test']))
    .action(async (options) => {
      process.exitCode = (await declared()).generateKeyCommand(options, io)
    })

  parent
    .command('hash')
    .description('read the secret of a key from stdin, and print its hash for keys: of routes.yaml')
    .addOption(jsonOption())
    .allowExcessArguments()
    .addHelpText('after', examples(['umg keys hash < nightly.key']))
    .action(async (options, { args }: Command) => {
      process.exitCode = await (await declared()).hashKeyCommand({ ...options, args }, process.stdin, io)
    })
}

/** Adds the options of `create` and `edit` for the settings of a key. */
function addSettings(command: Command): Command {
  return command
    .option('--models <glob...>', 'models it may call, such as "openai/*"')
    .option('--class <class>', 'rate class')
    .option('--expires <when>', 'a date, an instant, or "never"; of a new key, by default, as late as its account allows')
    .option('--budget <amount...>', 'what it may spend, such as "20 USD/day", or "none"')
    .option('--tags <name=value...>', 'labels for usage and metrics, such as team=research')
}

const CREATE_EXAMPLES = examples(
  [
    'umg keys create --name laptop',
    'umg keys create --name ci --test',
    'umg keys create --name nightly --models "anthropic/*" --class batch --expires 2027-01-31',
    'umg keys create --name terraform --admin',
    'umg keys create --name agents --budget "5 USD/day" "50 USD/month"',
  ],
  'Only the secret is printed on stdout, so that it can be redirected: umg keys create --name ci > key',
)

const EDIT_EXAMPLES = examples([
  'umg keys edit key_7Fq2mN4x --models "openai/*" "acme/*"',
  'umg keys edit key_7Fq2mN4x --expires never',
  'umg keys edit key_7Fq2mN4x --budget none',
])
