import type { Kysely } from 'kysely'
import type { Store } from '../store/database.ts'
import type { Schema } from '../store/schema.ts'
import { digestOf } from '../text/ids.ts'
import { createToken } from './links.ts'
import { selectUsers, type User, userOf } from './users.ts'

/** A session ends after so long without a request, and after twelve hours in any case. */
const IDLE_MS = 30 * 60_000
const LONGEST_MS = 12 * 3_600_000
/** How exactly it is noted when a session was last used. */
const NOTED_MS = 60_000

/** A session that is open. */
export interface Session {
  /** Names it, and cannot be used in place of its token. */
  readonly digest: string
  readonly user: User
}

/** Begins a session, with a token that nobody knew before. The token is in this result and nowhere else. */
export async function beginSession(db: Kysely<Schema>, userId: string): Promise<string> {
  const token = createToken()
  const now = Date.now()
  const session = { digest: digestOf(token), user_id: userId, created_at: now, seen_at: now }
  await db
    .deleteFrom('sessions')
    .where('created_at', '<=', now - LONGEST_MS)
    .execute()
  await db.insertInto('sessions').values(session).execute()
  await db.updateTable('users').set({ last_sign_in_at: now }).where('id', '=', userId).execute()
  return token
}

/** The open session of a token, if there is one; it counts as used. Throws what the database threw. */
export async function findSession({ db }: Store, token: string): Promise<Session | undefined> {
  const digest = digestOf(token)
  const now = Date.now()
  const row = await selectOpen(db, digest, now).executeTakeFirst()
  if (row === undefined) return undefined
  if (row.seen_at <= now - NOTED_MS) {
    await db.updateTable('sessions').set({ seen_at: now }).where('digest', '=', digest).execute()
  }
  return { digest, user: userOf(row) }
}

/** Whether a session is still open; it does not count as used. Throws what the database threw. */
export async function isSessionOpen({ db }: Store, digest: string): Promise<boolean> {
  return (await selectOpen(db, digest, Date.now()).executeTakeFirst()) !== undefined
}

function selectOpen(db: Kysely<Schema>, digest: string, now: number) {
  return selectUsers(db)
    .innerJoin('sessions', 'sessions.user_id', 'users.id')
    .select('sessions.seen_at')
    .where('sessions.digest', '=', digest)
    .where('sessions.created_at', '>', now - LONGEST_MS)
    .where('sessions.seen_at', '>', now - IDLE_MS)
    .where('users.disabled_at', 'is', null)
}

/** Ends one session, if it is still there. */
export async function endSession(db: Kysely<Schema>, digest: string): Promise<void> {
  await db.deleteFrom('sessions').where('digest', '=', digest).execute()
}

/** Ends all sessions of a user, wherever they are signed in. */
export async function endSessions(db: Kysely<Schema>, userId: string): Promise<void> {
  await db.deleteFrom('sessions').where('user_id', '=', userId).execute()
}
