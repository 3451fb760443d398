import type { Store } from '../store/database.ts'
import { digestOf } from '../text/ids.ts'
import { LAST_USED_RESOLUTION_MS } from './directory.ts'
import { kindOf } from './format.ts'

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
    await db.updateTable('keys').set({ last_used_at: now }).where('id', '=', row.id).execute()
  }
  return { id: row.id, name: row.name, account: { id: row.account_id, name: row.account_name } }
}
