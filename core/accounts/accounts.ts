import { type Kysely, sql } from 'kysely'
import { GatewayError } from '../errors.ts'
import type { Store } from '../store/database.ts'
import { mapPage, type Page, type PageQuery, readPage } from '../store/page.ts'
import type { AccountsTable, Schema } from '../store/schema.ts'
import { newId } from '../text/ids.ts'
import { type Actor, audit, changesBetween } from './audit.ts'
import { checkBudgets, checkGlobs, checkText } from './field-checks.ts'

/** What can be set of an account. */
export interface AccountSettings {
  readonly name: string
  /** Globs of model ids; a key can narrow them. */
  readonly models: readonly string[]
  /** The rate class of keys that have none of their own. */
  readonly rateClass: string | null
  /** What all its keys together may spend: `500 USD/month`. */
  readonly budgets: readonly string[]
}

/** An account to create. Default: no budgets. */
export interface NewAccount extends Omit<AccountSettings, 'budgets'> {
  readonly budgets?: readonly string[] | undefined
}

/** An account as the owner of keys: what they may call. */
export interface Owner extends AccountSettings {
  /** `acc_…`; `default` always exists. */
  readonly id: string
}

/** An account, as an admin sees it. */
export interface Account extends Owner {
  /** Milliseconds since 1970. */
  readonly createdAt: number
  /** The number of keys that are not revoked. */
  readonly keys: number
  /** The number of users who sign in to it. */
  readonly users: number
}

/** Creates an account. Throws `invalid_value`. */
export async function createAccount(store: Store, account: NewAccount, actor: Actor): Promise<Account> {
  const settings = checked({ ...account, budgets: account.budgets ?? [] })
  const id = newId('acc')
  const { name } = settings
  const row: AccountsTable = { id, ...columnsOf(settings), created_at: Date.now() }
  return store.db.transaction().execute(async (db) => {
    await db.insertInto('accounts').values(row).execute()
    const changes = changesBetween({}, settingsOf(settings))
    await audit(db, actor, { action: 'account.create', object: { type: 'account', id, name }, changes })
    return accountOf({ ...row, keys: 0, users: 0 })
  })
}

/** Changes an account, which takes effect for its keys at once. Throws `object_not_found` or `invalid_value`. */
export async function editAccount(
  store: Store,
  {
    id,
    ...given
  }: { readonly [Setting in keyof AccountSettings]?: AccountSettings[Setting] | undefined } & {
    readonly id: string
  },
  actor: Actor,
): Promise<Account> {
  await store.db.transaction().execute(async (db) => {
    const before = await findOwner(db, id)
    const { name = before.name, models = before.models, rateClass = before.rateClass, budgets = before.budgets } = given
    const settings = checked({ name, models, rateClass, budgets })
    await db.updateTable('accounts').set(columnsOf(settings)).where('id', '=', id).execute()
    const changes = changesBetween(settingsOf(before), settingsOf(settings))
    await audit(db, actor, { action: 'account.edit', object: { type: 'account', id, name }, changes })
  })
  store.events.emit('keys', id)
  return findAccount(store, id)
}

/** Lists accounts, newest first. `account`: the id of the only one to list. */
export async function listAccounts(store: Store, filter: PageQuery & { readonly account?: string } = {}): Promise<Page<Account>> {
  const { account } = filter
  const rows = selectAccounts(store.db).$if(account !== undefined, (all) => all.where('id', '=', account!))
  return mapPage(await readPage(store, rows, filter), accountOf)
}

/** Finds an account by its id. Throws `object_not_found`. */
export async function findAccount(store: Store, id: string): Promise<Account> {
  const [row] = await store.read(selectAccounts(store.db).where('id', '=', id))
  if (row === undefined) throw notFound()
  return accountOf(row)
}

/** Finds an account by its id, without counting its keys and users. Throws `object_not_found`. */
export async function findOwner(db: Kysely<Schema>, id: string): Promise<Owner> {
  const row = await db.selectFrom('accounts').selectAll().where('id', '=', id).executeTakeFirst()
  if (row === undefined) throw notFound()
  return { id, ...settingsOfRow(row) }
}

const notFound = (): GatewayError => new GatewayError('object_not_found', { values: { what: 'account' } })

function selectAccounts(db: Kysely<Schema>) {
  return db
    .selectFrom('accounts')
    .selectAll()
    .select([
      sql<number>`(select count(*) from keys where account_id = accounts.id and revoked_at is null)`.as('keys'),
      sql<number>`(select count(*) from users where account_id = accounts.id)`.as('users'),
    ])
}

function accountOf(row: AccountsTable & { readonly keys: number; readonly users: number }): Account {
  const { id, keys, users } = row
  return { id, ...settingsOfRow(row), createdAt: row.created_at, keys, users }
}

type Columns = Pick<AccountsTable, 'name' | 'models' | 'rate_class' | 'budgets'>

const settingsOfRow = ({ name, models, rate_class, budgets }: Columns): AccountSettings => ({
  name,
  models: JSON.parse(models),
  rateClass: rate_class,
  budgets: JSON.parse(budgets),
})

const columnsOf = ({ name, models, rateClass, budgets }: AccountSettings): Columns => ({
  name,
  models: JSON.stringify(models),
  rate_class: rateClass,
  budgets: JSON.stringify(budgets),
})

/** The settings of an account, as the audit trail names them. */
const settingsOf = ({ name, models, rateClass, budgets }: AccountSettings) => ({ name, models, rate_class: rateClass, budgets })

/** The settings as they are stored. Throws `invalid_value` for settings that an account cannot have. */
function checked({ name, models, rateClass, budgets }: AccountSettings): AccountSettings {
  checkText('name', name)
  checkGlobs('models', models)
  if (rateClass !== null) checkText('rate_class', rateClass)
  return { name, models, rateClass, budgets: checkBudgets(budgets) }
}
