import type { Actor } from '../accounts/audit.ts'
import type { Store } from '../store/database.ts'
import { revokeKey } from './keys.ts'

/** The number of keys in use that users have made, by user; absent: none. They go on working when the user is disabled. */
export async function countKeysOf(store: Store, users: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const rows = await inUse(store)
    .where('created_by', 'in', [...users, ''])
    .select(['created_by', ({ fn }) => fn.countAll<number | string>().as('count')])
    .groupBy('created_by')
    .execute()
  return new Map(rows.map(({ created_by, count }) => [created_by!, Number(count)]))
}

/** Revokes the keys in use that a user has made. Resolves to their number. */
export async function revokeKeysOf(store: Store, user: string, actor: Actor): Promise<number> {
  const keys = await inUse(store).where('created_by', '=', user).select('id').execute()
  for (const { id } of keys) await revokeKey(store, id, actor)
  return keys.length
}

const inUse = ({ db }: Store) =>
  db
    .selectFrom('keys')
    .where('revoked_at', 'is', null)
    .where(({ eb, or }) => or([eb('expires_at', 'is', null), eb('expires_at', '>', Date.now())]))
