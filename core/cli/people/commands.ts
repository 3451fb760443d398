import { type Command, Option } from 'commander'
import { defaultUrl } from '../gateway/commands.ts'
import { addStoreCommand, databaseOption, dataOption, examples, toCount, toCountOrNone, toInstant } from '../options.ts'
import type { CommandIo } from '../output.ts'

// Loaded when a command runs: help does not need them.
const accounts = () => import('./accounts.ts')
const users = () => import('./users.ts')
const invitations = () => import('./invitations.ts')
const audit = () => import('./audit.ts')

/** Adds `umg accounts …`, `umg users …` and `umg audit …`. */
export function addPeopleCommands(umg: Command, io: CommandIo): void {
  addAccountCommands(umg.command('accounts').description('manage accounts, which own keys; works while gateways run'), io)
  addUserCommands(umg.command('users').description('manage the users of the console; works while gateways run'), io)
  addAuditCommands(umg.command('audit').description('show and verify changes and who made them; works while gateways run'), io)
}

function addAuditCommands(parent: Command, io: CommandIo): void {
  // `umg audit` alone lists.
  addStoreCommand(parent, 'list', 'list changes, the newest first', { isDefault: true })
    .option('--action <part>', 'part of the action, such as key.revoke')
    .option('--actor <who>', "part of the actor's name, or its id")
    .addOption(new Option('--from <when>', 'a date or an instant').argParser(toInstant))
    .addOption(new Option('--to <when>', 'a date or an instant, exclusive').argParser(toInstant))
    .addOption(new Option('--limit <n>', 'the number of entries, newest first').argParser(toCount).default(50))
    .addHelpText('after', AUDIT_EXAMPLES)
    .action(async (options) => {
      process.exitCode = await (await audit()).auditCommand(options, io)
    })
  addStoreCommand(parent, 'verify', 'find entries that were changed, removed or inserted')
    .addOption(new Option('--known <hash>', 'a hash that this command has printed before: it must still be in the chain'))
    .addHelpText('after', VERIFY_EXAMPLES)
    .action(async (options) => {
      process.exitCode = await (await audit()).verifyAuditCommand(options, io)
    })
  parent
    .command('export')
    .description('print all entries, the oldest first')
    .addOption(new Option('--format <format>', 'JSON Lines, or RFC 5424').choices(['jsonl', 'syslog']).default('jsonl'))
    .addOption(new Option('--after <position>', 'only entries after this one').argParser(toCount).default(0, 'all'))
    .addOption(dataOption())
    .addOption(databaseOption())
    .addHelpText('after', EXPORT_EXAMPLES)
    .action(async (options) => {
      process.exitCode = await (await audit()).exportAuditCommand(options, io)
    })
}

const KEY_DAYS = 'the longest life of its keys in days, or "none"; of the account default: of all keys'

function addAccountCommands(parent: Command, io: CommandIo): void {
  addStoreCommand(parent, 'list', 'list accounts; of those that routes.yaml declares, what the database has')
    .addHelpText('after', examples(['umg accounts list', 'umg accounts list --json']))
    .action(async (options) => {
      process.exitCode = await (await accounts()).listAccountsCommand(options, io)
    })
  addStoreCommand(parent, 'create', 'create an account')
    .requiredOption('--name <name>', 'display name')
    .option('--models <glob...>', 'models its keys may call, such as "openai/*"; each key can narrow them', ['*'])
    .option('--class <class>', 'rate class of its keys')
    .addOption(new Option('--max-keys <n>', 'the most keys that it may have; default 100').argParser(toCount))
    .addOption(new Option('--max-key-days <n>', KEY_DAYS).argParser(toCountOrNone))
    .option('--budget <amount...>', 'what its keys together may spend, such as "500 USD/month", or "none"')
    .addHelpText('after', examples(['umg accounts create --name Research --models "openai/*" "acme/*" --class batch']))
    .action(async (options) => {
      process.exitCode = await (await accounts()).createAccountCommand(options, io)
    })
  addStoreCommand(parent, 'edit <id>', 'change an account; gateways apply it within a second')
    .option('--name <name>', 'display name')
    .option('--models <glob...>', 'models its keys may call')
    .option('--class <class>', 'rate class of its keys')
    .addOption(new Option('--max-keys <n>', 'the most keys that it may have').argParser(toCount))
    .addOption(new Option('--max-key-days <n>', KEY_DAYS).argParser(toCountOrNone))
    .option('--budget <amount...>', 'what its keys together may spend, such as "500 USD/month", or "none"')
    .addHelpText(
      'after',
      examples([
        'umg accounts edit acc_3kPz --class batch',
        'umg accounts edit acc_3kPz --models "acme/*"',
        'umg accounts edit acc_3kPz --budget "500 USD/month"',
        'umg accounts edit default --max-keys 500',
        'umg accounts edit default --max-key-days 90',
      ]),
    )
    .action(async (id: string, options) => {
      process.exitCode = await (await accounts()).editAccountCommand({ ...options, id }, io)
    })
}

function addUserCommands(parent: Command, io: CommandIo): void {
  addStoreCommand(parent, 'list', 'list users')
    .addHelpText('after', examples(['umg users list', 'umg users list --json']))
    .action(async (options) => {
      process.exitCode = await (await users()).listUsersCommand(options, io)
    })
  addStoreCommand(parent, 'invite <email>', 'create an invitation and print its link, once; the link works once')
    .addOption(new Option('--role <role>').choices(['admin', 'member']).default('member'))
    .option('--account <id>', 'the account of the new user', 'default')
    .addOption(new Option('--console-url <url>', 'URL of the console').env('UMG_CONSOLE_URL').default(defaultUrl(io.env)))
    .addHelpText('after', INVITE_EXAMPLES)
    .action(async (email: string, options) => {
      process.exitCode = await (await invitations()).inviteCommand({ ...options, email }, io)
    })
  addStoreCommand(parent, 'invitations', 'list open invitations')
    .addHelpText('after', examples(['umg users invitations', 'umg users invitations --json']))
    .action(async (options) => {
      process.exitCode = await (await invitations()).listInvitationsCommand(options, io)
    })
  addStoreCommand(parent, 'withdraw <id>', 'withdraw an invitation, at once')
    .addHelpText('after', examples(['umg users withdraw inv_5Tq8']))
    .action(async (id: string, options) => {
      process.exitCode = await (await invitations()).withdrawCommand({ ...options, id }, io)
    })
  addStoreCommand(parent, 'edit <id>', 'change a user; a change of the role ends its sessions')
    .option('--name <name>', 'display name')
    .addOption(new Option('--role <role>').choices(['admin', 'member']))
    .addHelpText('after', examples(['umg users edit usr_9Xb1 --role admin']))
    .action(async (id: string, options) => {
      process.exitCode = await (await users()).editUserCommand({ ...options, id }, io)
    })
  addStoreCommand(parent, 'disable <id>', 'sign a user out and refuse further sign-ins, at once')
    .option('--revoke-keys', 'also revoke the keys that they have made; without it, those go on working')
    .addHelpText('after', examples(['umg users disable usr_9Xb1', 'umg users disable usr_9Xb1 --revoke-keys']))
    .action(async (id: string, options) => {
      process.exitCode = await (await users()).disableUserCommand({ ...options, id }, io)
    })
  addStoreCommand(parent, 'enable <id>', 'let a disabled user sign in again')
    .addHelpText('after', examples(['umg users enable usr_9Xb1']))
    .action(async (id: string, options) => {
      process.exitCode = await (await users()).editUserCommand({ ...options, id, disabled: false }, io)
    })
  addStoreCommand(parent, 'end-sessions <id>', 'sign a user out everywhere')
    .addHelpText('after', examples(['umg users end-sessions usr_9Xb1']))
    .action(async (id: string, options) => {
      process.exitCode = await (await users()).endSessionsCommand({ ...options, id }, io)
    })
}

const INVITE_EXAMPLES = examples([
  'umg users invite ann@example.com',
  'umg users invite bob@example.com --role admin --account acc_3kPz',
])

const AUDIT_EXAMPLES = examples([
  'umg audit list --action key --actor ann',
  'umg audit list --from 2027-01-01 --limit 500 --json',
])

const VERIFY_EXAMPLES = examples(
  ['umg audit verify', 'umg audit verify --known "$(cat last-hash)"'],
  'Exit codes: 0 the audit trail is as it was written; 1 it is not, or cannot be read.',
)

const EXPORT_EXAMPLES = examples([
  'umg audit export > audit.jsonl',
  'umg audit export --format syslog --after 1200 | nc syslog.internal 601',
])
