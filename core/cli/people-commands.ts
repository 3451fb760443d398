import { type Command, Option } from 'commander'
import type { CommandIo } from './io.ts'
import { databaseOption, dataOption, toCount, toInstant } from './options.ts'

// Loaded once a command runs: help needs none of it.
const accountCommands = () => import('./accounts.ts')
const userCommands = () => import('./users.ts')
const invitationCommands = () => import('./invitations.ts')

/** Adds `umg accounts …`, `umg users …` and `umg audit`. */
export function addPeopleCommands(umg: Command, io: CommandIo): void {
  const accounts = umg.command('accounts').description('who owns keys; works beside running gateways')
  const users = umg.command('users').description('who signs in to the console; works beside running gateways')
  const command = (of: Command, usage: string, description: string) =>
    of.command(usage).description(description).option('--json', 'print JSON').addOption(dataOption()).addOption(databaseOption())

  command(accounts, 'list', 'list accounts').action(async (options) => {
    process.exitCode = await (await accountCommands()).listAccountsCommand(options, io)
  })
  command(accounts, 'create', 'make an account')
    .requiredOption('--name <name>', 'what people call it')
    .option('--models <glob...>', 'models its keys may call, such as "openai/*"; each key can narrow them', ['*'])
    .option('--class <class>', 'rate class of its keys')
    .action(async (options) => {
      process.exitCode = await (await accountCommands()).createAccountCommand(options, io)
    })
  command(accounts, 'edit <id>', 'change what the keys of an account may do: running gateways know it within a second')
    .option('--name <name>', 'what people call it')
    .option('--models <glob...>', 'models its keys may call')
    .option('--class <class>', 'rate class of its keys')
    .action(async (id: string, options) => {
      process.exitCode = await (await accountCommands()).editAccountCommand({ ...options, id }, io)
    })

  command(users, 'list', 'list users').action(async (options) => {
    process.exitCode = await (await userCommands()).listUsersCommand(options, io)
  })
  command(users, 'invite <email>', 'make a link by which somebody becomes a user; it is printed once, and works once')
    .addOption(new Option('--role <role>').choices(['admin', 'member']).default('member'))
    .option('--account <id>', 'which account they sign in to', 'default')
    .addOption(
      new Option('--console-url <url>', 'where people reach the console').env('UMG_CONSOLE_URL').default('http://127.0.0.1:8080'),
    )
    .action(async (email: string, options) => {
      process.exitCode = await (await invitationCommands()).inviteCommand({ ...options, email }, io)
    })
  command(users, 'invitations', 'list the invitations that are open').action(async (options) => {
    process.exitCode = await (await invitationCommands()).listInvitationsCommand(options, io)
  })
  command(users, 'withdraw <id>', 'make an invitation void, at once').action(async (id: string, options) => {
    process.exitCode = await (await invitationCommands()).withdrawCommand({ ...options, id }, io)
  })
  command(users, 'edit <id>', 'change a user; with another role they are signed out')
    .option('--name <name>', 'what people call them')
    .addOption(new Option('--role <role>').choices(['admin', 'member']))
    .action(async (id: string, options) => {
      process.exitCode = await (await userCommands()).editUserCommand({ ...options, id }, io)
    })
  command(users, 'disable <id>', 'shut a user out, at once').action(async (id: string, options) => {
    process.exitCode = await (await userCommands()).editUserCommand({ ...options, id, disabled: true }, io)
  })
  command(users, 'enable <id>', 'let a disabled user sign in again').action(async (id: string, options) => {
    process.exitCode = await (await userCommands()).editUserCommand({ ...options, id, disabled: false }, io)
  })
  command(users, 'end-sessions <id>', 'sign a user out everywhere').action(async (id: string, options) => {
    process.exitCode = await (await userCommands()).endSessionsCommand({ ...options, id }, io)
  })

  command(umg, 'audit', 'who did what; works beside running gateways')
    .option('--action <part>', 'of what was done, such as key.revoke')
    .option('--actor <who>', 'part of their name, or their id')
    .addOption(new Option('--from <when>', 'a date or an instant').argParser(toInstant))
    .addOption(new Option('--to <when>', 'a date or an instant, itself left out').argParser(toInstant))
    .addOption(new Option('--limit <n>', 'the newest so many').argParser(toCount).default(50))
    .action(async (options) => {
      const { auditCommand } = await import('./audit.ts')
      process.exitCode = await auditCommand(options, io)
    })
}
