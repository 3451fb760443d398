import { type Kysely, PostgresAdapter } from 'kysely'
import { GatewayError } from '../errors.ts'
import type { Schema } from '../store/schema.ts'

/**
 * Throws `conflict` if an account has as many keys as it may have. Keys that are revoked, expired or rotated do not count. In a transaction:
 * of two that create the last key, the second waits for the first.
 */
export async function checkRoom(db: Kysely<Schema>, account: string): Promise<void> {
  const owner = db.selectFrom('accounts').select(['name', 'max_keys']).where('id', '=', account)
  // A transaction on SQLite is exclusive.
  const isPostgres = db.getExecutor().adapter instanceof PostgresAdapter
  const { name, max_keys } = await (isPostgres ? owner.forUpdate() : owner).executeTakeFirstOrThrow()
  const { count } = await db
    .selectFrom('keys')
    .select(({ fn }) => fn.countAll().as('count'))
    .where('account_id', '=', account)
    .where('revoked_at', 'is', null)
    .where('replaced_by', 'is', null)
    .where((row) => row.or([row('expires_at', 'is', null), row('expires_at', '>', Date.now())]))
    .executeTakeFirstOrThrow()
  if (Number(count) < max_keys) return
  const detail = `The account ${name} has ${count} keys; it may have ${max_keys}. Revoke keys that are not used, or ask an admin to raise the account's "Most keys" (max_keys).`
  throw new GatewayError('conflict', { values: { detail } })
}
