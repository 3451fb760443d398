import { type Kysely, sql } from 'kysely'
import { DEFAULT_ACCOUNT } from '../config/schema/default-account.ts'
import { GatewayError } from '../errors.ts'
import type { Store } from '../store/database.ts'
import { contains, mapPage, type Page, type PageQuery, readPage } from '../store/page.ts'
import type { AccountsTable, Schema } from '../store/schema.ts'
import { newId } from '../text/ids.ts'
import { type Actor, audit, changesBetween, GATEWAY } from './audit.ts'
import { checkBudgets, checkGlobs, checkText } from './field-checks.ts'

/** What can be set of an account. */
export interface AccountSettings {
  readonly name: string
  /** Globs of model ids; a key can narrow them. */
  readonly models: readonly string[]
  /** The rate class of keys that have none of their own. */
  readonly rateClass: string | null
  /** The most keys that it may have, of those that are in use. */
  readonly maxKeys: number
  /** The longest life of its keys, in days; null: any. That of the account `default` holds for the keys of all accounts too. */
  readonly maxKeyDays: number | null
  /** What all its keys together may spend: `500 USD/month`. */
  readonly budgets: readonly string[]
}

/** The most keys of an account for which nobody has set another number. */
export const DEFAULT_MAX_KEYS = 100

/** An account to create. */
export interface NewAccount extends Omit<AccountSettings, 'maxKeys' | 'maxKeyDays' | 'budgets'> {
  /** Default: `DEFAULT_MAX_KEYS`. */
  readonly maxKeys?: number | undefined
  /** Default: null. */
  readonly maxKeyDays?: number | null | undefined
  /** Default: none. */
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
  /** The longest life of its keys, in days, by its own setting and that of the account `default`; null: any. */
  readonly keyDays: number | null
  /** The line of the routes.yaml that declared it last, `routes.yaml:71`; undefined if none does. */
  readonly declaredAt: string | undefined
}

/** Creates an account. Throws `invalid_value`. */
export async function createAccount(store: Store, account: NewAccount, actor: Actor): Promise<Account> {
  const { name, models, rateClass, maxKeys = DEFAULT_MAX_KEYS, maxKeyDays = null, budgets = [] } = account
  const settings: AccountSettings = { name, models, rateClass, maxKeys, maxKeyDays, budgets: checkBudgets(budgets) }
  checkSettings(settings)
  const id = newId('acc')
  const row: AccountsTable = { id, ...columnsOf(settings), created_at: Date.now(), declared_at: null }
  await store.db.transaction().execute(async (db) => {
    await db.insertInto('accounts').values(row).execute()
    const changes = changesBetween({}, settingsOf(settings))
    await audit(db, actor, { action: 'account.create', object: { type: 'account', id, name }, changes })
  })
  return findAccount(store, id)
}

/**
 * Notes which accounts routes.yaml declares, and where: `lines` by id. Creates those that do not exist yet, so that they can have users and
 * keys. Their settings are those of routes.yaml, as long as that declares them, and after that allow no model until an admin changes them.
 */
export async function noteDeclaredAccounts(store: Store, lines: ReadonlyMap<string, string>): Promise<void> {
  // Not by `read`, whose deadline is that of long lists: the start waits for it.
  const known = await store.db.selectFrom('accounts').select(['id', 'declared_at']).execute()
  const changed = known.filter(({ id, declared_at }) => declared_at !== (lines.get(id) ?? null))
  const ids = new Set(known.map(({ id }) => id))
  const missing = [...lines].filter(([id]) => !ids.has(id))
  if (changed.length + missing.length === 0) return
  await store.db.transaction().execute(async (db) => {
    for (const { id } of changed)
      await db
        .updateTable('accounts')
        .set({ declared_at: lines.get(id) ?? null })
        .where('id', '=', id)
        .execute()
    const created: string[] = []
    for (const [id, declared_at] of missing) {
      const settings = { name: id, models: [], rateClass: null, maxKeys: DEFAULT_MAX_KEYS, maxKeyDays: null, budgets: [] }
      const row: AccountsTable = { id, ...columnsOf(settings), created_at: Date.now(), declared_at }
      const { numInsertedOrUpdatedRows } = await db
        .insertInto('accounts')
        .values(row)
        .onConflict((conflict) => conflict.column('id').doNothing())
        .executeTakeFirstOrThrow()
      if (numInsertedOrUpdatedRows === 1n) created.push(id)
    }
    for (const id of created) await audit(db, GATEWAY, { action: 'account.create', object: { type: 'account', id, name: id } })
  })
}

/** Settings to change; those that are undefined stay as they are. */
type Changes = { readonly [Setting in keyof AccountSettings]?: AccountSettings[Setting] | undefined }

/** Changes an account, which takes effect for its keys at once. Throws `object_not_found` or `invalid_value`. */
export async function editAccount(
  store: Store,
  { id, ...given }: Changes & { readonly id: string },
  actor: Actor,
): Promise<Account> {
  checkSettings(given)
  const checkedBudgets = given.budgets && checkBudgets(given.budgets)
  await store.db.transaction().execute(async (db) => {
    const before = await findOwner(db, id)
    const { name = before.name, models = before.models, rateClass = before.rateClass } = given
    const { maxKeys = before.maxKeys, maxKeyDays = before.maxKeyDays } = given
    const settings: AccountSettings = {
      name,
      models,
      rateClass,
      maxKeys,
      maxKeyDays,
      budgets: checkedBudgets ?? before.budgets,
    }
    await db.updateTable('accounts').set(columnsOf(settings)).where('id', '=', id).execute()
    const changes = changesBetween(settingsOf(before), settingsOf(settings))
    await audit(db, actor, { action: 'account.edit', object: { type: 'account', id, name }, changes })
  })
  store.events.emit('keys', id)
  return findAccount(store, id)
}

/** Selects accounts. */
export interface AccountFilter extends PageQuery {
  /** The id of the only one to list. */
  readonly account?: string
  /** Part of the name, or the id. */
  readonly q?: string
}

/** Lists accounts, newest first. */
export async function listAccounts(store: Store, filter: AccountFilter = {}): Promise<Page<Account>> {
  const { account, q } = filter
  const rows = selectAccounts(store.db)
    .$if(account !== undefined, (all) => all.where('id', '=', account!))
    .$if(q !== undefined, (all) => all.where((row) => row.or([contains('name', q!), row('id', '=', q!)])))
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
  return ownerOf(row)
}

const notFound = (): GatewayError => new GatewayError('object_not_found', { values: { what: 'account' } })

function selectAccounts(db: Kysely<Schema>) {
  return db
    .selectFrom('accounts')
    .selectAll()
    .select([
      sql<number>`(select count(*) from keys where account_id = accounts.id and revoked_at is null)`.as('keys'),
      sql<number>`(select count(*) from users where account_id = accounts.id)`.as('users'),
      sql<number | null>`(select min(max_key_days) from accounts as limited where id in (accounts.id, ${DEFAULT_ACCOUNT}))`.as(
        'key_days',
      ),
    ])
}

const ownerOf = ({ id, name, models, rate_class, max_keys, max_key_days, budgets }: AccountsTable): Owner => ({
  id,
  name,
  models: JSON.parse(models),
  rateClass: rate_class,
  maxKeys: max_keys,
  maxKeyDays: max_key_days,
  budgets: JSON.parse(budgets),
})

type AccountRow = AccountsTable & { readonly keys: number; readonly users: number; readonly key_days: number | null }

const accountOf = (row: AccountRow): Account => ({
  ...ownerOf(row),
  createdAt: row.created_at,
  keys: row.keys,
  users: row.users,
  keyDays: row.key_days,
  declaredAt: row.declared_at ?? undefined,
})

const columnsOf = ({ name, models, rateClass, maxKeys, maxKeyDays, budgets }: AccountSettings) => ({
  name,
  models: JSON.stringify(models),
  rate_class: rateClass,
  max_keys: maxKeys,
  max_key_days: maxKeyDays,
  budgets: JSON.stringify(budgets),
})

/** The settings of an account, as the audit trail names them. */
const settingsOf = ({ name, models, rateClass, maxKeys, maxKeyDays, budgets }: AccountSettings) => ({
  name,
  models,
  rate_class: rateClass,
  max_keys: maxKeys,
  max_key_days: maxKeyDays,
  budgets,
})

function checkSettings({ name, models, rateClass, maxKeys, maxKeyDays }: Changes): void {
  if (name !== undefined) checkText('name', name)
  if (models !== undefined) checkGlobs('models', models)
  if (rateClass != null) checkText('rate_class', rateClass)
  if (maxKeys !== undefined) checkCount('max_keys', maxKeys, 0)
  if (maxKeyDays != null) checkCount('max_key_days', maxKeyDays, 1)
}

function checkCount(param: string, count: number, least: number): void {
  if (Number.isSafeInteger(count) && count >= least && count <= MOST) return
  throw new GatewayError('invalid_value', { param, values: { detail: `give a whole number up to ${MOST}` } })
}

/** What a column of all databases holds, and what a date can add. */
const MOST = 1_000_000
