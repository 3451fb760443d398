import type { Kysely } from 'kysely'
import { type Actor, audit, changesBetween, GATEWAY } from '../accounts/audit.ts'
import { GatewayError } from '../errors.ts'
import type { Store } from '../store/database.ts'
import type { Schema } from '../store/schema.ts'
import { type ApiKey, apiKeyOf, selectKeys } from './api-key.ts'
import { insertKey, type MadeKey, type NewKey, objectOf } from './new-key.ts'
import { checkSettings, columnsOf, type KeySettings, settingsOf } from './settings.ts'

/** Makes a key. Throws `invalid_value`. */
export async function createKey(store: Store, key: NewKey, actor: Actor = GATEWAY): Promise<MadeKey> {
  return changeKeys(store, (db) => insertKey(db, key, actor))
}

/** Changes what a key may do, or what it is called. Throws `object_not_found`, `invalid_value`, or `conflict` for a revoked key. */
export async function editKey(
  store: Store,
  { id, ...settings }: Partial<KeySettings> & { readonly id: string },
  actor: Actor,
): Promise<ApiKey> {
  return changeKeys(store, async (db) => {
    const before = await findKey(db, id)
    // An expired key may be renamed and keep its expiry.
    const { expires, ...others } = settings
    checkSettings(expires === before.expiresAt ? others : settings)
    if (before.revokedAt !== undefined)
      throw new GatewayError('conflict', { values: { detail: 'This key is revoked, for good. Create another one.' } })
    if (Object.keys(settings).length > 0) await db.updateTable('keys').set(columnsOf(settings)).where('id', '=', id).execute()
    const key = await findKey(db, id)
    const changes = changesBetween(settingsOf(before), settingsOf(key))
    await audit(db, actor, { action: 'key.edit', object: objectOf(key), changes })
    return key
  })
}

/** Revokes a key for good; of a revoked one it changes nothing. Throws `object_not_found`. */
export async function revokeKey(store: Store, id: string, actor: Actor = GATEWAY): Promise<ApiKey> {
  return changeKeys(store, async (db) => {
    const { numUpdatedRows } = await db
      .updateTable('keys')
      .set({ revoked_at: Date.now() })
      .where('id', '=', id)
      .where('revoked_at', 'is', null)
      .executeTakeFirstOrThrow()
    const key = await findKey(db, id)
    if (numUpdatedRows === 1n) await audit(db, actor, { action: 'key.revoke', object: objectOf(key) })
    return key
  })
}

/** The key of an id. Throws `object_not_found`. */
export async function findKey(db: Kysely<Schema>, id: string): Promise<ApiKey> {
  const row = await selectKeys(db).where('keys.id', '=', id).executeTakeFirst()
  // The id is not repeated: it may be a secret, given by mistake.
  if (row === undefined) throw new GatewayError('object_not_found', { values: { what: 'key' } })
  return apiKeyOf(row)
}

/** One transaction for keys and audit trail; when it is over, this process asks the store anew about every key. */
export async function changeKeys<Result>(store: Store, run: (db: Kysely<Schema>) => Promise<Result>): Promise<Result> {
  const result = await store.db.transaction().execute(run)
  store.events.emit('keys')
  return result
}
