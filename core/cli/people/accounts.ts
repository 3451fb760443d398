import { type Account, createAccount, editAccount, listAccounts } from '../../accounts/accounts.ts'
import { COMMAND_LINE } from '../../accounts/audit.ts'
import { everyPage } from '../../store/page.ts'
import { type CommandIo, formatTime, type TableFormat, writeJson, writeTable } from '../output.ts'
import { budgetsOf, type ObjectOptions, type StoreOptions, warnUncheckedClass, withStore, withStoreMade } from '../store.ts'

/** The options of `umg accounts create` and `umg accounts edit` for the settings of an account. */
export interface AccountSettingsOptions {
  readonly name?: string
  readonly models?: readonly string[]
  readonly class?: string
  readonly maxKeys?: number
  /** Days; null: any. */
  readonly maxKeyDays?: number | null
  /** `500 USD/month`; `none` removes all. */
  readonly budget?: readonly string[]
}

/** The options of `umg accounts create`. */
export interface CreateAccountOptions extends StoreOptions, AccountSettingsOptions {
  readonly name: string
  readonly models: readonly string[]
}

/** `umg accounts list`, the newest last. Resolves to the exit code. */
export async function listAccountsCommand(options: StoreOptions, io: CommandIo): Promise<number> {
  return withStore(options, io, async (store) => {
    const accounts = (await everyPage((page) => listAccounts(store, page))).reverse()
    if (options.json) return writeJson(accounts.map(toJson), io)
    writeTable(accounts, TABLE, io)
    const declared = accounts.filter(({ declaredAt }) => declaredAt !== undefined)
    if (declared.length > 0) io.stderr.write(`${whatIsInTheFile(declared)}\n`)
  })
}

/** `umg accounts create`: prints only the id on stdout. Resolves to the exit code. */
export async function createAccountCommand(options: CreateAccountOptions, io: CommandIo): Promise<number> {
  return withStoreMade(options, io, async (store) => {
    const { name, models, class: rateClass, maxKeys, maxKeyDays, budget } = options
    const settings = { name, models, rateClass: rateClass ?? null, maxKeys, maxKeyDays, budgets: budgetsOf(budget) }
    const account = await createAccount(store, settings, COMMAND_LINE)
    if (options.json) return writeJson(toJson(account), io)
    io.stdout.write(`${account.id}\n`)
    warnUncheckedClass(rateClass, io)
  })
}

/** `umg accounts edit ID`. Resolves to the exit code. */
export async function editAccountCommand(options: ObjectOptions & AccountSettingsOptions, io: CommandIo): Promise<number> {
  return withStore(options, io, async (store) => {
    const { id, name, models, class: rateClass, maxKeys, maxKeyDays, budget } = options
    const settings = { name, models, rateClass, maxKeys, maxKeyDays, budgets: budgetsOf(budget) }
    const account = await editAccount(store, { id, ...settings }, COMMAND_LINE)
    if (options.json) return writeJson(toJson(account), io)
    io.stderr.write(`Changed the account ${id} (${account.name}). Running gateways apply it within a second.\n`)
    if (account.declaredAt !== undefined) warnDeclared(account.declaredAt, options, io)
    else warnUncheckedClass(rateClass, io)
  })
}

/** Names the settings that have no effect, since the file declares the account. */
function warnDeclared(place: string, { models, class: rateClass, budget }: AccountSettingsOptions, { stderr }: CommandIo): void {
  const settings = Object.entries({ models, class: rateClass, budget })
  const ignored = settings.filter(([, value]) => value !== undefined).map(([name]) => `--${name}`)
  if (ignored.length === 0) return
  stderr.write(
    `But ${place} declares this account, and rules: while it does, setting ${ignored.join(', ')} has no effect. Change it there.\n`,
  )
}

const whatIsInTheFile = (declared: readonly Account[]): string =>
  `Models, class and budgets of ${declared.map(({ id }) => id).join(', ')} are those of the file and line under SOURCE, and not shown: this ` +
  'command does not read the file, nor counts the keys in it. The console shows both.'

/** The cell of a setting that the database does not decide. */
const IN_FILE = '(file)'

/** A cell of a setting that the file decides while it declares the account. */
const unlessDeclared =
  (cell: (account: Account) => string) =>
  (account: Account): string =>
    account.declaredAt === undefined ? cell(account) : IN_FILE

/** An account as `--json` prints it: with the settings in the database, which have no effect while a file declares it. */
const toJson = (account: Account) => ({
  id: account.id,
  name: account.name,
  models: account.models,
  class: account.rateClass,
  budgets: account.budgets,
  createdAt: formatTime(account.createdAt),
  keys: account.keys,
  maxKeys: account.maxKeys,
  maxKeyDays: account.maxKeyDays,
  users: account.users,
  source: account.declaredAt ?? 'database',
})

const TABLE: TableFormat<Account> = {
  columns: {
    ID: ({ id }) => id,
    NAME: ({ name }) => name,
    MODELS: unlessDeclared(({ models }) => models.join(' ')),
    CLASS: unlessDeclared(({ rateClass }) => rateClass ?? ''),
    KEYS: ({ keys }) => String(keys),
    USERS: ({ users }) => String(users),
    CREATED: ({ createdAt }) => formatTime(createdAt),
    BUDGETS: unlessDeclared(({ budgets }) => budgets.join(', ')),
    SOURCE: ({ declaredAt }) => declaredAt ?? 'database',
  },
  empty: 'There are no accounts.',
}
