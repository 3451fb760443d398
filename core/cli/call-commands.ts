import { type Command, Option } from 'commander'
import type { CommandIo } from './io.ts'
import { databaseOption, dataOption, toCount, toDimension, toInstant } from './options.ts'

/** Adds `umg requests …` and `umg usage`. */
export function addCallCommands(umg: Command, io: CommandIo): void {
  const requests = umg.command('requests').description('what became of calls; works beside running gateways')

  among(requests.command('list').description('list requests, the newest first'))
    .option('--id <beginning>', 'how the ids begin')
    .option('--model <model>', 'as the list names it')
    .option('--key <id>', 'key_…')
    .addOption(new Option('--status <status>', 'the HTTP status').argParser(toCount))
    .addOption(new Option('--fault <fault>', 'whose fault it was').choices(['caller', 'policy', 'upstream', 'gateway']))
    .addOption(new Option('--limit <n>', 'of a table; files hold all').argParser(toCount).default(50))
    .action(async (options) => {
      const { listRequestsCommand } = await import('./requests.ts')
      process.exitCode = await listRequestsCommand(options, io)
    })

  requests
    .command('show')
    .description('show one request')
    .argument('<id>', 'req_…, as replies carry it in x-request-id; or how it begins')
    .option('--json', 'print JSON')
    .addOption(dataOption())
    .addOption(databaseOption())
    .action(async (id: string, options) => {
      const { showRequestCommand } = await import('./requests.ts')
      process.exitCode = await showRequestCommand({ ...options, id }, io)
    })

  among(umg.command('usage').description('add calls and tokens up; works beside running gateways'))
    .addOption(new Option('--group <what>', 'model, key, account or tag:NAME').argParser(toDimension).default('model'))
    .addOption(new Option('--step <step>', 'of a file; in UTC').choices(['hour', 'day']))
    .action(async (options) => {
      const { usageCommand } = await import('./usage.ts')
      process.exitCode = await usageCommand(options, io)
    })
}

/** What each of them may be narrowed to, and printed as. */
const among = (command: Command): Command =>
  command
    .addOption(new Option('--from <when>', 'a date or an instant').argParser(toInstant))
    .addOption(new Option('--to <when>', 'a date or an instant, itself left out').argParser(toInstant))
    .option('--account <id>', 'acc_…')
    .addOption(new Option('--format <format>').choices(['table', 'csv', 'jsonl']).default('table'))
    .addOption(dataOption())
    .addOption(databaseOption())
