import { GatewayError } from '../errors.ts'
import type { Store } from '../store/database.ts'
import { type Actor, audit } from './audit.ts'
import { checkPassword, hashPassword, isPassword } from './password.ts'
import { beginSession, endSessions } from './sessions.ts'
import { countTry, forgetTry } from './tries.ts'
import { emailOf } from './user.ts'

/** What somebody signs in with, and where from. */
export interface Credentials {
  readonly email: string
  readonly password: string
  readonly address: string
}

/** Begins a session; resolves to its token. Throws `sign_in_refused` alike for all that can be wrong, or `too_many_tries`. */
export async function signIn(store: Store, credentials: Credentials): Promise<string> {
  const user = await prove(store, credentials)
  return store.db.transaction().execute(async (db) => {
    await audit(db, user, { action: 'session.start', object: { type: 'user', id: user.id, name: user.name } })
    return beginSession(db, user.id)
  })
}

/** Changes a password and ends all sessions of its owner; resolves to the token of a new one. Throws as `signIn` does. */
export async function changePassword(store: Store, credentials: Credentials, next: string): Promise<string> {
  checkPassword(next, 'new')
  const user = await prove(store, credentials)
  const password = await hashPassword(next)
  return store.db.transaction().execute(async (db) => {
    await db.updateTable('users').set({ password }).where('id', '=', user.id).execute()
    await endSessions(db, user.id)
    await audit(db, user, { action: 'password.change', object: { type: 'user', id: user.id, name: user.name } })
    return beginSession(db, user.id)
  })
}

/** Who has this address and this password. What goes wrong is counted, and told in the audit trail. */
async function prove(store: Store, { email: typed, password, address }: Credentials): Promise<Actor> {
  const email = emailOf(typed)
  await countTry(store, { email, address })
  const user = await store.db
    .selectFrom('users')
    .select(['id', 'name', 'password'])
    .where('email', '=', email)
    .where('disabled_at', 'is', null)
    .executeTakeFirst()
  if (!(await isPassword(password, user?.password))) {
    const object = { type: 'user', id: user?.id ?? null, name: user?.name ?? email } as const
    await audit(store.db, { address }, { action: 'session.refuse', object })
    throw new GatewayError('sign_in_refused')
  }
  await forgetTry(store, { email, address })
  return { id: user!.id, name: user!.name, address }
}
