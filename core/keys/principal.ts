import { sql } from 'kysely'
import type { DeclaredKey } from '../config/config.ts'
import type { Principal } from '../sdk/api.ts'
import type { Store } from '../store/database.ts'
import { parseBudgets } from '../text/budgets.ts'
import { digestOf } from '../text/ids.ts'
import { kindOf } from './format.ts'

/** The time of the last use of a key is written at most this often. */
export const LAST_USED_RESOLUTION_MS = 60_000

/** The principal of a key, and when the key expires (ms since 1970; absent: never). Frozen: all calls with the key share it. */
export interface KeyHolder {
  readonly principal: Principal
  readonly expiresAt?: number
}

/** Finds the holder of a key by the digest of its secret. Finds expired keys too, but no revoked ones. Throws what the database threw. */
export const findHolder = (store: Store, digest: string): Promise<KeyHolder | undefined> => find(store, 'keys.digest', digest)

/** Finds the holder of a key by its id, `key_…`. */
export const findHolderById = (store: Store, id: string): Promise<KeyHolder | undefined> => find(store, 'keys.id', id)

async function find(store: Store, column: 'keys.digest' | 'keys.id', value: string): Promise<KeyHolder | undefined> {
  const row = await store.db
    .selectFrom('keys')
    .innerJoin('accounts', 'accounts.id', 'keys.account_id')
    .where(column, '=', value)
    .where('keys.kind', '!=', 'admin')
    .where('keys.revoked_at', 'is', null)
    .select([
      'keys.id',
      'keys.name',
      'keys.kind',
      'keys.account_id',
      'keys.models',
      'keys.rate_class',
      'keys.budgets',
      'keys.tags',
      'keys.expires_at',
      'keys.replaces',
    ])
    .select([
      'accounts.models as account_models',
      'accounts.rate_class as account_rate_class',
      'accounts.budgets as account_budgets',
    ])
    .executeTakeFirst()
  if (row === undefined) return undefined
  const principal: Principal = {
    keyId: row.id,
    ...(row.replaces !== null && { firstKeyId: await firstKeyId(store, row.id) }),
    name: row.name,
    kind: row.kind === 'test' ? 'test' : 'live',
    account: row.account_id,
    models: [JSON.parse(row.account_models), JSON.parse(row.models)],
    rateClass: row.rate_class ?? row.account_rate_class ?? undefined,
    ...budgetsOf(JSON.parse(row.budgets), JSON.parse(row.account_budgets)),
    ...(row.tags !== '{}' && { tags: JSON.parse(row.tags) }),
  }
  return { principal: freezePrincipal(principal), expiresAt: row.expires_at ?? undefined }
}

/** Nothing if there are none: the calls of most keys need not look at budgets. */
function budgetsOf(key: readonly string[], account: readonly string[]): Pick<Principal, 'budgets'> {
  if (key.length + account.length === 0) return {}
  return { budgets: { key: parseBudgets(key), account: parseBudgets(account) } }
}

/** Freezes a principal, which all calls with its key share, plugins included. */
export function freezePrincipal(principal: Principal): Principal {
  const { budgets, tags } = principal
  if (tags !== undefined) Object.freeze(tags)
  if (budgets !== undefined)
    for (const part of [...budgets.key, ...budgets.account, budgets.key, budgets.account, budgets]) Object.freeze(part)
  return Object.freeze(principal)
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
export function declaredHolder(key: DeclaredKey, prefix: Principal['kind']): KeyHolder {
  const made = declaredHolders.get(key)
  if (made !== undefined) return made
  const principal: Principal = {
    keyId: `routes:${key.name}`,
    name: key.name,
    kind: prefix === 'test' ? 'test' : key.kind,
    account: 'default',
    models: [key.models],
    rateClass: key.rateClass,
    ...(key.budgets.length > 0 && { budgets: { key: key.budgets, account: [] } }),
  }
  const holder: KeyHolder = { principal: freezePrincipal(principal), expiresAt: key.expires }
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

/** Finds the admin key of a secret; undefined if malformed, unknown, revoked or expired. Throws what the database threw. */
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
    .select(['keys.id', 'keys.name', 'keys.account_id', 'accounts.name as account_name', 'keys.last_used_at'])
    .executeTakeFirst()
  if (row === undefined) return undefined
  if ((row.last_used_at ?? 0) <= now - LAST_USED_RESOLUTION_MS) {
    const used = db.updateTable('keys').set({ last_used_at: now }).where('id', '=', row.id)
    // Not awaited: a read must not wait for a write. If it fails, the next request repeats it.
    used.execute().catch(() => undefined)
  }
  return { id: row.id, name: row.name, account: { id: row.account_id, name: row.account_name } }
}
