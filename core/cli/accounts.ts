import { type Account, createAccount, editAccount, listAccounts } from '../accounts/accounts.ts'
import { COMMAND_LINE } from '../accounts/audit.ts'
import { everyPage } from '../store/page.ts'
import { iso, type StoreIo, type StoreOptions, withStore, writeJson, writeTable } from './store.ts'

/** What an account can be told to be, on the command line. */
export interface AccountOptions extends StoreOptions {
  readonly name?: string
  readonly models?: readonly string[]
  readonly class?: string
}

/** `umg accounts list`, the newest last. Resolves to the exit code. */
export async function listAccountsCommand(options: StoreOptions, io: StoreIo): Promise<number> {
  return withStore(options, io, async (store) => {
    const accounts = (await everyPage((page) => listAccounts(store, page))).reverse()
    if (options.json) writeJson(io, accounts.map(view))
    else writeTable(io, [HEADINGS, ...accounts.map(cells)])
  })
}

/** `umg accounts create`: its id, alone on stdout. Resolves to the exit code. */
export async function createAccountCommand(
  options: AccountOptions & { readonly name: string; readonly models: readonly string[] },
  io: StoreIo,
): Promise<number> {
  return withStore(options, io, async (store) => {
    const { name, models, class: rateClass } = options
    const account = await createAccount(store, { name, models, rateClass: rateClass ?? null }, COMMAND_LINE)
    if (options.json) return writeJson(io, view(account))
    io.stdout.write(`${account.id}\n`)
    tellUnchecked(rateClass, io)
  })
}

/** `umg accounts edit ID`. Resolves to the exit code. */
export async function editAccountCommand(options: AccountOptions & { readonly id: string }, io: StoreIo): Promise<number> {
  return withStore(options, io, async (store) => {
    const { id, name, models, class: rateClass } = options
    const account = await editAccount(store, { id, name, models, rateClass }, COMMAND_LINE)
    if (options.json) return writeJson(io, view(account))
    io.stderr.write(`Changed the account ${id} (${account.name}). Running gateways know it within a second.\n`)
    tellUnchecked(rateClass, io)
  })
}

/** An account as `--json` prints it. */
const view = ({ id, name, models, rateClass, createdAt, keys, users }: Account) => ({
  id,
  name,
  models,
  class: rateClass,
  createdAt: iso(createdAt),
  keys,
  users,
})

const HEADINGS = ['ID', 'NAME', 'MODELS', 'CLASS', 'KEYS', 'USERS', 'CREATED']

const cells = ({ id, name, models, rateClass, keys, users, createdAt }: Account): string[] => [
  id,
  name,
  models.join(' '),
  rateClass ?? '',
  String(keys),
  String(users),
  iso(createdAt),
]

/** Says on stderr, for people, that nobody has looked whether there is such a rate class: the store knows no routing table. */
export function tellUnchecked(rateClass: string | undefined, io: StoreIo): void {
  if (rateClass === undefined) return
  const why = 'this command reads no routing table'
  io.stderr.write(`The rate class "${rateClass}" was not checked: ${why}. routes.yaml must declare it, else calls are refused.\n`)
}
