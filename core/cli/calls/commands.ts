import { type Command, Option } from 'commander'
import {
  addStoreCommand,
  databaseOption,
  dataOption,
  examples,
  jsonOption,
  toCount,
  toDimension,
  toInstant,
  toSpendGroup,
} from '../options.ts'
import type { CommandIo } from '../output.ts'

// Loaded when a command runs: help does not need it.
const calls = () => import('./calls.ts')
const spend = () => import('./spend.ts')

/** Adds `umg requests …`, `umg usage`, `umg spend` and `umg statement`. */
export function addCallCommands(umg: Command, io: CommandIo): void {
  const requests = umg.command('requests').description('show requests and their outcome; works while gateways run')

  addFilters(requests.command('list').description('list requests, the newest first'))
    .option('--id <part>', 'the beginning of their ids, or at least four of their last characters')
    .option('--model <model>', 'as the list shows it')
    .option('--key <id>', 'key_…')
    .addOption(new Option('--status <status>', 'the HTTP status').argParser(toCount))
    .addOption(new Option('--fault <fault>', 'the side at fault').choices(['caller', 'policy', 'upstream', 'gateway']))
    .addOption(
      new Option('--limit <n>', 'the number of rows of a table; csv and jsonl have no limit').argParser(toCount).default(50),
    )
    .addHelpText('after', LIST_EXAMPLES)
    .action(async (options) => {
      process.exitCode = await (await calls()).listRequestsCommand(options, io)
    })

  addStoreCommand(requests, 'show', 'show one request')
    .argument('<id>', 'req_…, from the reply header x-request-id; or its first or last characters')
    .addHelpText('after', examples(['umg requests show req_01a206fe', 'umg requests show 2d2231453']))
    .action(async (id: string, options) => {
      process.exitCode = await (await calls()).showRequestCommand({ ...options, id }, io)
    })

  addFilters(umg.command('usage').description('show totals of calls and tokens; works while gateways run'))
    .addOption(new Option('--group <what>', 'model, key, account or tag:NAME').argParser(toDimension).default('model'))
    .addOption(new Option('--step <step>', 'the time step of csv and jsonl, in UTC').choices(['hour', 'day']))
    .addHelpText('after', USAGE_EXAMPLES)
    .action(async (options) => {
      process.exitCode = await (await calls()).usageCommand(options, io)
    })

  addSpendCommands(umg, io)
}

/** Adds `umg spend` and `umg statement`. */
function addSpendCommands(umg: Command, io: CommandIo): void {
  addFilters(umg.command('spend').description('show what calls cost, in US dollars; works while gateways run'))
    .addOption(
      new Option('--group <what>', 'model, key, account, price, day or tag:NAME').argParser(toSpendGroup).default('model'),
    )
    .addHelpText('after', SPEND_EXAMPLES)
    .action(async (options) => {
      process.exitCode = await (await spend()).spendCommand(options, io)
    })

  addStoreCommand(umg, 'statement', 'show what was spent in a month, to the cent, and by which prices')
    .argument('<month>', '2026-10, in UTC')
    .option('--account <id>', 'acc_…; all accounts if absent')
    .addHelpText('after', examples(['umg statement 2026-10', 'umg statement 2026-10 --account acc_8hTz2 --json']))
    .action(async (month: string, options) => {
      process.exitCode = await (await spend()).statementCommand({ ...options, month }, io)
    })
}

/** Adds the options that `requests list`, `usage` and `spend` have. */
const addFilters = (command: Command): Command =>
  command
    .addOption(new Option('--from <when>', 'a date or an instant').argParser(toInstant))
    .addOption(new Option('--to <when>', 'a date or an instant, exclusive').argParser(toInstant))
    .option('--account <id>', 'acc_…')
    .addOption(new Option('--format <format>', 'an export instead of a table').choices(['csv', 'jsonl']).conflicts('json'))
    .addOption(jsonOption())
    .addOption(dataOption())
    .addOption(databaseOption())

const LIST_EXAMPLES = examples([
  'umg requests list --fault upstream --limit 20',
  'umg requests list --from 2027-01-01 --format csv > january.csv',
])

const SPEND_EXAMPLES = examples([
  'umg spend --group account --from 2027-01-01 --to 2027-02-01',
  'umg spend --group tag:team --format csv > spend.csv',
])

const USAGE_EXAMPLES = examples([
  'umg usage --from 2027-01-01 --to 2027-02-01',
  'umg usage --group key --step day --format csv > usage.csv',
])
