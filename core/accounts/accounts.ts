import { type Kysely, sql } from 'kysely'
import { GatewayError } from '../errors.ts'
import type { Store } from '../store/database.ts'
import { mapPage, type Page, type PageQuery, readPage } from '../store/page.ts'
import type { AccountsTable, Schema } from '../store/schema.ts'
import { newId } from '../text/ids.ts'
import { type Actor, audit, changesBetween } from './audit.ts'
import { checkGlobs, checkText } from './text.ts'

/** What an account can be told to be. */
export interface AccountSettings {
  readonly name: string
  /** Globs of model ids; each key narrows them. */
  readonly models: readonly string[]
  /** Of its keys that name none. */
  readonly rateClass: string | null
}

/** Who owns keys, and what these may call. */
export interface Owner extends AccountSettings {
  /** `acc_…`; `default` is there from the beginning. */
  readonly id: string
}

/** An account, as its admins see it. */
export interface Account extends Owner {
  /** Milliseconds since 1970. */
  readonly createdAt: number
  /** How many of its keys are not revoked, and how many people sign in to it. */
  readonly keys: number
  readonly users: number
}

/** Makes an account. Throws `invalid_value`. */
export async function createAccount(store: Store, { name, models, rateClass }: AccountSettings, actor: Actor): Promise<Account> {
  check({ name, models, rateClass })
  const id = newId('acc')
  const row: AccountsTable = { id, name, models: JSON.stringify(models), rate_class: rateClass, created_at: Date.now() }
  return store.db.transaction().execute(async (db) => {
    await db.insertInto('accounts').values(row).execute()
    const changes = changesBetween({}, { name, models, rate_class: rateClass })
    await audit(db, actor, { action: 'account.create', object: { type: 'account', id, name }, changes })
    return accountOf({ ...row, keys: 0, users: 0 })
  })
}

/** Changes an account: from then on its keys may do what it says. Throws `object_not_found` or `invalid_value`. */
export async function editAccount(
  store: Store,
  { id, ...settings }: Partial<AccountSettings> & { readonly id: string },
  actor: Actor,
): Promise<Account> {
  check(settings)
  await store.db.transaction().execute(async (db) => {
    const before = await findOwner(db, id)
    const { name = before.name, models = before.models, rateClass = before.rateClass } = settings
    const columns = { name, models: JSON.stringify(models), rate_class: rateClass }
    await db.updateTable('accounts').set(columns).where('id', '=', id).execute()
    const was = { name: before.name, models: before.models, rate_class: before.rateClass }
    const changes = changesBetween(was, { name, models, rate_class: rateClass })
    await audit(db, actor, { action: 'account.edit', object: { type: 'account', id, name }, changes })
  })
  store.events.emit('keys', id)
  return findAccount(store, id)
}

/** Lists accounts, newest first. `account`: only that one. */
export async function listAccounts(store: Store, filter: PageQuery & { readonly account?: string } = {}): Promise<Page<Account>> {
  const { account } = filter
  const rows = selectAccounts(store.db).$if(account !== undefined, (all) => all.where('id', '=', account!))
  return mapPage(await readPage(store, rows, filter), accountOf)
}

/** The account of an id. Throws `object_not_found`. */
export async function findAccount(store: Store, id: string): Promise<Account> {
  const [row] = await store.read(selectAccounts(store.db).where('id', '=', id))
  if (row === undefined) throw notFound()
  return accountOf(row)
}

/** The account of an id as far as it owns keys: that is found at once, for nothing is counted. Throws `object_not_found`. */
export async function findOwner(db: Kysely<Schema>, id: string): Promise<Owner> {
  const row = await db.selectFrom('accounts').selectAll().where('id', '=', id).executeTakeFirst()
  if (row === undefined) throw notFound()
  return { id, name: row.name, models: JSON.parse(row.models), rateClass: row.rate_class }
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
  const { id, name, keys, users } = row
  return { id, name, models: JSON.parse(row.models), rateClass: row.rate_class, createdAt: row.created_at, keys, users }
}

function check({ name, models, rateClass }: Partial<AccountSettings>): void {
  if (name !== undefined) checkText('name', name)
  if (models !== undefined) checkGlobs('models', models)
  if (rateClass != null) checkText('rate_class', rateClass)
}
