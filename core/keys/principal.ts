import { sql } from 'kysely'
import type { DeclaredKey } from '../config/config.ts'
import type { Principal } from '../sdk/api.ts'
import type { Store } from '../store/database.ts'
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
}

/** A key, the account that owns it, and when the key expires (ms since 1970; absent: never). */
export interface KeyHolder {
  /** What the key has by itself, without its account. */
  readonly key: Principal
  readonly account: AccountHolder
  readonly expiresAt?: number
}

/**
 * What a key and its account may do together. An account of routes.yaml takes the place of the one of the database that has its id. Frozen:
 * all calls with the key share it.
 */
export function principalOf({ key, account }: KeyHolder, declared: ReadonlyMap<string, AccountHolder>): Principal {
  const { models, rateClass: classOfAccount, tags: tagsOfAccount } = declared.get(account.id) ?? account
  const { rateClass = classOfAccount, tags: ownTags, ...own } = key
  const tags = { ...tagsOfAccount, ...ownTags }
  const principal: Principal = {
    ...own,
    models: [models, ...own.models],
    ...(rateClass !== undefined && { rateClass }),
    ...(Object.keys(tags).length > 0 && { tags: Object.freeze(tags) }),
  }
  return Object.freeze(principal)
}

/** Finds the holder of a key by the digest of its secret. Finds expired keys too, but no revoked ones. Throws what the database threw. */
export const findHolder = (store: Store, digest: string): Promise<KeyHolder | undefined> => find(store, 'keys.digest', digest)

/** Finds the holder of a key by its id, `key_…`. */
export const findHolderById = (store: Store, id: string): Promise<KeyHolder | undefined> => find(store, 'keys.id', id)

/** Finds an account by its id. Throws what the database threw. */
export async function findAccountHolder({ db }: Store, id: string): Promise<AccountHolder | undefined> {
  const row = await db.selectFrom('accounts').select(['models', 'rate_class']).where('id', '=', id).executeTakeFirst()
  return row && { id, models: JSON.parse(row.models), ...(row.rate_class !== null && { rateClass: row.rate_class }) }
}

async function find(store: Store, column: 'keys.digest' | 'keys.id', value: string): Promise<KeyHolder | undefined> {
  const row = await store.db
    .selectFrom('keys')
    .innerJoin('accounts', 'accounts.id', 'keys.account_id')
    .where(column, '=', value)
    .where('keys.kind', '!=', 'admin')
    .where('keys.revoked_at', 'is', null)
    .selectAll('keys')
    .select(['accounts.models as account_models', 'accounts.rate_class as account_rate_class'])
    .executeTakeFirst()
  if (row === undefined) return undefined
  return {
    key: {
      keyId: row.id,
      ...(row.replaces !== null && { firstKeyId: await firstKeyId(store, row.id) }),
      name: row.name,
      kind: row.kind === 'test' ? 'test' : 'live',
      account: row.account_id,
      models: [JSON.parse(row.models)],
      ...(row.rate_class !== null && { rateClass: row.rate_class }),
      tags: JSON.parse(row.tags),
    },
    account: {
      id: row.account_id,
      models: JSON.parse(row.account_models),
      ...(row.account_rate_class !== null && { rateClass: row.account_rate_class }),
    },
    ...(row.expires_at !== null && { expiresAt: row.expires_at }),
  }
}

/** The first of the keys that a key replaces, one after the other. */
async function firstKeyId({ db }: Store, id: string): Promise<string> {
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
  const { name, rateClass, tags, expires } = key
  const holder: KeyHolder = {
    key: {
      keyId: `routes:${name}`,
      name,
      kind: prefix === 'test' ? 'test' : key.kind,
      account: key.account,
      models: [key.models],
      ...(rateClass !== undefined && { rateClass }),
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
