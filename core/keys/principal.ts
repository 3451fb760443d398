import type { DeclaredKey } from '../config/config.ts'
import type { Principal } from '../sdk/api.ts'
import type { Store } from '../store/database.ts'

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
      'keys.tags',
      'keys.expires_at',
    ])
    .select(['accounts.models as account_models', 'accounts.rate_class as account_rate_class'])
    .executeTakeFirst()
  if (row === undefined) return undefined
  const principal: Principal = {
    keyId: row.id,
    name: row.name,
    kind: row.kind === 'test' ? 'test' : 'live',
    account: row.account_id,
    models: [JSON.parse(row.account_models), JSON.parse(row.models)],
    rateClass: row.rate_class ?? row.account_rate_class ?? undefined,
    ...(row.tags !== '{}' && { tags: Object.freeze(JSON.parse(row.tags)) }),
  }
  return { principal: Object.freeze(principal), expiresAt: row.expires_at ?? undefined }
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
  }
  const holder: KeyHolder = { principal: Object.freeze(principal), expiresAt: key.expires }
  declaredHolders.set(key, holder)
  return holder
}
