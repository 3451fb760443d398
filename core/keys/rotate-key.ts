import { type Actor, audit } from '../accounts/audit.ts'
import { GatewayError } from '../errors.ts'
import type { Store } from '../store/database.ts'
import { type ApiKey, statusOf } from './api-key.ts'
import { changeKeys, findKey } from './keys.ts'
import { insertKey, type MadeKey, objectOf } from './new-key.ts'

/** Which key is to be taken over from, and how long it works on. */
export interface Rotation {
  readonly id: string
  /** Milliseconds; 0 revokes it at once. */
  readonly overlap: number
}

/**
 * Makes a key that takes over from another one: with the same rights, and as long a life as that was given. Throws
 * `object_not_found`, or `conflict` for a key that is at its end, or was rotated before.
 */
export async function rotateKey(store: Store, { id, overlap }: Rotation, actor: Actor): Promise<MadeKey> {
  return changeKeys(store, async (db) => {
    const old = await findKey(db, id)
    const made = await insertKey(db, successorOf(old), actor)
    const now = Date.now()
    const end = overlap === 0 ? { revoked_at: now } : { expires_at: Math.min(now + overlap, old.expiresAt ?? Infinity) }
    const { numUpdatedRows } = await db
      .updateTable('keys')
      .set({ ...end, replaced_by: made.key.id })
      .where('id', '=', id)
      .where('replaced_by', 'is', null)
      .executeTakeFirstOrThrow()
    // Two rotations at once: the later one takes its key back.
    if (statusOf(old) !== 'active' || numUpdatedRows !== 1n) throw new GatewayError('conflict', { values: { detail: ENDED } })
    const changes = { replaced_by: [null, made.key.id], overlap_seconds: [null, overlap / 1000] } as const
    await audit(db, actor, { action: 'key.rotate', object: objectOf(old), changes })
    return made
  })
}

const ENDED = 'Only an active key that was not rotated before can be rotated. Create another one.'

function successorOf({ name, kind, models, rateClass, tags, account, ...old }: ApiKey) {
  const expires = old.expiresAt === undefined ? null : Date.now() + old.expiresAt - old.createdAt
  return { name, kind, models, rateClass: rateClass ?? null, tags, expires, account: account.id, replaces: old.id }
}
