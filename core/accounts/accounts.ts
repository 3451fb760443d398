import { type Kysely, sql } from 'kysely'
import { GatewayError } from '../errors.ts'
import type { Store } from '../store/database.ts'
import { newId } from '../store/id.ts'
import { mapPage, type Page, type PageQuery, readPage } from '../store/page.ts'
import type { AccountsTable, Schema } from '../store/schema.ts'
import { type Actor, type AuditEntry, audit, changesBetween } from './audit.ts'
import { checkGlobs, checkText } from './text.ts'

/** Who owns keys, and what these may call. Times are milliseconds since 1970. */
export interface Account {
  /** `acc_…`; `default` is there from the beginning. */
  readonly id: string
  readonly name: string
  /** Globs of model ids; each key narrows them. */
  readonly models: readonly string[]
  /** Of its keys that name none. */
  readonly rateClass: string | null
  readonly createdAt: number
  /** How many of its keys are not revoked, and how many people sign in to it. */
  readonly keys: number
  readonly users: number
}

/** What an account can be told to be. */
export interface AccountSettings {
  readonly name: string
  readonly models: readonly string[]
  readonly rateClass: string | null
}

/** Makes an account. Throws `invalid_value`. */
export async function createAccount(store: Store, { name, models, rateClass }: AccountSettings, actor: Actor): Promise<Account> {
  check({ name, models, rateClass })
  const id = newId('acc')
  const row: AccountsTable = { id, name, models: JSON.stringify(models), rate_class: rateClass, created_at: Date.now() }
  return store.db.transaction().execute(async (db) => {
    await db.insertInto('accounts').values(row).execute()
    const account = accountOf({ ...row, keys: 0, users: 0 })
    await audit(db, actor, {
      action: 'account.create',
      object: objectOf(account),
      changes: changesBetween({}, settingsOf(account)),
    })
    return account
  })
}

/** Changes an account: from then on its keys may do what it says. Throws `object_not_found` or `invalid_value`. */
export async function editAccount(
  store: Store,
  { id, ...settings }: Partial<AccountSettings> & { readonly id: string },
  actor: Actor,
): Promise<Account> {
  check(settings)
  const { name, models, rateClass } = settings
  const account = await store.db.transaction().execute(async (db) => {
    const before = await findAccount(db, id)
    await db
      .updateTable('accounts')
      .set({
        name: name ?? before.name,
        models: JSON.stringify(models ?? before.models),
        rate_class: rateClass === undefined ? before.rateClass : rateClass,
      })
      .where('id', '=', id)
      .execute()
    const after = await findAccount(db, id)
    await audit(db, actor, {
      action: 'account.edit',
      object: objectOf(after),
      changes: changesBetween(settingsOf(before), settingsOf(after)),
    })
    return after
  })
  store.events.emit('keys')
  return account
}

/** Lists accounts, newest first. `account`: only that one. */
export async function listAccounts(store: Store, filter: PageQuery & { readonly account?: string } = {}): Promise<Page<Account>> {
  const { account } = filter
  const rows = selectAccounts(store.db).$if(account !== undefined, (all) => all.where('id', '=', account!))
  return mapPage(await readPage(store, rows, filter), accountOf)
}

/** The account of an id. Throws `object_not_found`. */
export async function findAccount(db: Kysely<Schema>, id: string): Promise<Account> {
  const row = await selectAccounts(db).where('id', '=', id).executeTakeFirst()
  if (row === undefined) throw new GatewayError('object_not_found', { values: { what: 'account' } })
  return accountOf(row)
}

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

const settingsOf = ({ name, models, rateClass }: Account) => ({ name, models, rate_class: rateClass })

const objectOf = ({ id, name }: Account): AuditEntry['object'] => ({ type: 'account', id, name })
