import { sql } from 'kysely'
import type { DeclaredKey } from '../config/config.ts'
import { GatewayError } from '../errors.ts'
import type { Principal } from '../sdk/api.ts'
import type { Store } from '../store/database.ts'
import type { AccountsTable } from '../store/schema.ts'
import { type Budget, parseBudgets } from '../text/budgets.ts'
import { digestOf } from '../text/ids.ts'
import { kindOf } from './format.ts'

/** The time of the last use of a key is written at most this often. */
export const LAST_USED_RESOLUTION_MS = 60_000

/** What an account gives all of its keys. */
export interface AccountHolder {
  readonly id: string
  /** Globs of model ids. */
  readonly models: readonly string[]
  /** The class of the keys that have none of their own. */
  readonly rateClass?: string
  readonly tags?: Readonly<Record<string, string>>
  readonly budgets: readonly Budget[]
}

/** A key, the account that owns it, when the key expires (ms since 1970; absent: never), and whether it is disabled. */
export interface KeyHolder {
  /** What the key has by itself, without its account. */
  readonly key: Omit<Principal, 'budgets'> & { readonly budgets: readonly Budget[] }
  readonly account: AccountHolder
  readonly expiresAt?: number
  readonly isDisabled?: true
}

/**
 * What a key and its account may do together. An account of routes.yaml takes the place of the one of the database that has its id. Frozen:
 * all calls with the key share it.
 */
export function principalOf({ key, account }: KeyHolder, declared: ReadonlyMap<string, AccountHolder>): Principal {
  const owner = declared.get(account.id) ?? account
  const { rateClass = owner.rateClass, tags: ownTags, budgets, ...own } = key
  const tags = { ...owner.tags, ...ownTags }
  const principal: Principal = {
    ...own,
    models: [owner.models, ...own.models],
    ...(rateClass !== undefined && { rateClass }),
    ...(budgets.length + owner.budgets.length > 0 && { budgets: frozenBudgets(budgets, owner.budgets) }),
    ...(Object.keys(tags).length > 0 && { tags: Object.freeze(tags) }),
  }
  return Object.freeze(principal)
}

const frozenBudgets = (key: readonly Budget[], account: readonly Budget[]) =>
  Object.freeze({ key: freezeAll(key), account: freezeAll(account) })

const freezeAll = <Item extends object>(items: readonly Item[]) => Object.freeze(items.map((item) => Object.freeze({ ...item })))

/** Finds the holder of a key by the digest of its secret. Finds expired and disabled keys too, but no revoked ones. Throws what the database threw. */
export const findHolder = (store: Store, digest: string): Promise<KeyHolder | undefined> => find(store, 'keys.digest', digest)

/** Finds the holder of a key by its id, `key_…`. */
export const findHolderById = (store: Store, id: string): Promise<KeyHolder | undefined> => find(store, 'keys.id', id)

/** Finds an account by its id. Throws what the database threw. */
export async function findAccountHolder({ db }: Store, id: string): Promise<AccountHolder | undefined> {
  const row = await db.selectFrom('accounts').selectAll().where('id', '=', id).executeTakeFirst()
  return row && accountOf(row)
}

type AccountColumns = Pick<AccountsTable, 'id' | 'models' | 'rate_class' | 'budgets'>

const accountOf = ({ id, models, rate_class, budgets }: AccountColumns): AccountHolder => ({
  id,
  models: JSON.parse(models),
  ...(rate_class !== null && { rateClass: rate_class }),
  budgets: parseBudgets(JSON.parse(budgets)),
})

async function find(store: Store, column: 'keys.digest' | 'keys.id', value: string): Promise<KeyHolder | undefined> {
  const row = await store.db
    .selectFrom('keys')
    .innerJoin('accounts', 'accounts.id', 'keys.account_id')
    .where(column, '=', value)
    .where('keys.kind', '!=', 'admin')
    .where('keys.revoked_at', 'is', null)
    .selectAll('keys')
    .select([
      'accounts.models as account_models',
      'accounts.rate_class as account_rate_class',
      'accounts.budgets as account_budgets',
    ])
    .executeTakeFirst()
  if (row === undefined) return undefined
  const { account_id, account_models, account_rate_class, account_budgets } = row
  return {
    key: {
      keyId: row.id,
      ...(row.replaces !== null && { firstKeyId: await firstKeyId(store, row.id) }),
      name: row.name,
      kind: row.kind === 'test' ? 'test' : 'live',
      account: row.account_id,
      models: [JSON.parse(row.models)],
      ...(row.rate_class !== null && { rateClass: row.rate_class }),
      budgets: parseBudgets(JSON.parse(row.budgets)),
      tags: JSON.parse(row.tags),
    },
    account: accountOf({ id: account_id, models: account_models, rate_class: account_rate_class, budgets: account_budgets }),
    ...(row.expires_at !== null && { expiresAt: row.expires_at }),
    ...(row.disabled_at !== null && { isDisabled: true }),
  }
}

/** The id of the first of the keys that a key replaces, one after the other. */
export async function firstKeyId({ db }: Store, id: string): Promise<string> {
  const { rows } = await sql<{ readonly id: string }>`
    with recursive chain (id, replaces) as (
      select id, replaces from keys where id = ${id}
      union select keys.id, keys.replaces from keys join chain on keys.id = chain.replaces
    )
    select id from chain where replaces is null
  `.execute(db)
  return rows[0]?.id ?? id
}

const declaredHolders = new WeakMap<DeclaredKey, KeyHolder>()

/** The holder of a key declared in routes.yaml. `prefix`: the kind of its secret; an `sk-test-` key is never live. */
export function declaredHolder(key: DeclaredKey, prefix: Principal['kind'], account: AccountHolder): KeyHolder {
  const made = declaredHolders.get(key)
  if (made?.account === account) return made
  const { name, rateClass, tags, expires, budgets } = key
  const holder: KeyHolder = {
    key: {
      keyId: `routes:${name}`,
      name,
      kind: prefix === 'test' ? 'test' : key.kind,
      account: key.account,
      models: [key.models],
      ...(rateClass !== undefined && { rateClass }),
      budgets,
      tags,
    },
    account,
    ...(expires !== undefined && { expiresAt: expires }),
  }
  declaredHolders.set(key, holder)
  return holder
}

/** An admin key: authenticates a program at the management API. */
export interface AdminKey {
  /** `key_…` */
  readonly id: string
  readonly name: string
  readonly account: { readonly id: string; readonly name: string }
}

/**
 * Finds the admin key of a secret; undefined if malformed, unknown, revoked or expired. Throws `api_key_disabled`, or what the
 * database threw.
 */
export async function findAdminKey({ db }: Store, secret: string): Promise<AdminKey | undefined> {
  if (kindOf(secret) !== 'admin') return undefined
  const now = Date.now()
  const row = await db
    .selectFrom('keys')
    .innerJoin('accounts', 'accounts.id', 'keys.account_id')
    .where('keys.digest', '=', digestOf(secret))
    .where('keys.kind', '=', 'admin')
    .where('keys.revoked_at', 'is', null)
    .where((row) => row.or([row('keys.expires_at', 'is', null), row('keys.expires_at', '>', now)]))
    .select(['keys.id', 'keys.name', 'keys.account_id', 'accounts.name as account_name', 'keys.last_used_at', 'keys.disabled_at'])
    .executeTakeFirst()
  if (row === undefined) return undefined
  if (row.disabled_at !== null) throw new GatewayError('api_key_disabled')
  if ((row.last_used_at ?? 0) <= now - LAST_USED_RESOLUTION_MS) {
    const used = db.updateTable('keys').set({ last_used_at: now }).where('id', '=', row.id)
    // Not awaited: a read must not wait for a write. If it fails, the next request repeats it.
    used.execute().catch(() => undefined)
  }
  return { id: row.id, name: row.name, account: { id: row.account_id, name: row.account_name } }
}
