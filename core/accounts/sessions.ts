import type { Kysely } from 'kysely'
import type { Store } from '../store/database.ts'
import type { Schema } from '../store/schema.ts'
import { digestOf } from '../text/ids.ts'
import { createToken } from './tokens.ts'
import { selectUsers, type User, userOf } from './user.ts'

/** A session ends after this time without a request. */
const IDLE_MS = 30 * 60_000
/** A session ends after this time in any case. */
const MAX_AGE_MS = 12 * 3_600_000
/** How long after users have proved who they are they may make changes that give rights. */
const CONFIRMED_MS = 15 * 60_000
/** The time of the last request is written at most this often. */
const SEEN_RESOLUTION_MS = 60_000

/** An open session. */
export interface Session {
  /** SHA-256 of the token: identifies the session, and does not authenticate it. */
  readonly digest: string
  readonly user: User
  /** Until when its user may make changes that give rights, in milliseconds since 1970. */
  readonly confirmedUntil: number
}

/**
 * Begins a session; resolves to its token, which is stored nowhere. `confirmedAt`: when the user proved who they are, if that was before,
 * at the OpenID provider.
 */
export async function beginSession(db: Kysely<Schema>, userId: string, confirmedAt?: number): Promise<string> {
  const token = createToken()
  const now = Date.now()
  const confirmed_at = Math.min(now, confirmedAt ?? now)
  const session = { digest: digestOf(token), user_id: userId, created_at: now, seen_at: now, confirmed_at }
  await db
    .deleteFrom('sessions')
    .where('created_at', '<=', now - MAX_AGE_MS)
    .execute()
  await db.insertInto('sessions').values(session).execute()
  await db.updateTable('users').set({ last_sign_in_at: now }).where('id', '=', userId).execute()
  return token
}

/** Finds a token's session and renews it. Throws what the database threw. */
export async function findSession({ db }: Store, token: string): Promise<Session | undefined> {
  const digest = digestOf(token)
  const now = Date.now()
  const row = await selectOpen(db, digest, now).executeTakeFirst()
  if (row === undefined) return undefined
  if (row.seen_at <= now - SEEN_RESOLUTION_MS) {
    const seen = db.updateTable('sessions').set({ seen_at: now }).where('digest', '=', digest)
    // Not awaited: a read must not wait for a write. If it fails, the next request repeats it.
    seen.execute().catch(() => undefined)
  }
  return { digest, user: userOf(row), confirmedUntil: (row.confirmed_at ?? row.began_at) + CONFIRMED_MS }
}

/** Whether a session is still open; does not count as a use of it. Throws what the database threw. */
export async function isSessionOpen({ db }: Store, digest: string): Promise<boolean> {
  return (await selectOpen(db, digest, Date.now()).executeTakeFirst()) !== undefined
}

function selectOpen(db: Kysely<Schema>, digest: string, now: number) {
  return selectUsers(db)
    .innerJoin('sessions', 'sessions.user_id', 'users.id')
    .select(['sessions.seen_at', 'sessions.confirmed_at', 'sessions.created_at as began_at'])
    .where('sessions.digest', '=', digest)
    .where('sessions.created_at', '>', now - MAX_AGE_MS)
    .where('sessions.seen_at', '>', now - IDLE_MS)
    .where('users.disabled_at', 'is', null)
}

/** Ends one session, if it is still open. */
export async function endSession(db: Kysely<Schema>, digest: string): Promise<void> {
  await db.deleteFrom('sessions').where('digest', '=', digest).execute()
}

/** Ends all sessions of a user. */
export async function endSessions(db: Kysely<Schema>, userId: string): Promise<void> {
  await db.deleteFrom('sessions').where('user_id', '=', userId).execute()
}
