import type { Kysely } from 'kysely'
import { GatewayError } from '../errors.ts'
import type { Store } from '../store/database.ts'
import type { Schema } from '../store/schema.ts'
import { exclusively } from '../store/transaction.ts'
import { type Actor, type AuditEntry, audit } from './audit.ts'
import { checkPassword, hashPassword, isPassword } from './password.ts'
import { beginSession, endSessions } from './sessions.ts'
import { countFailedSignIn, forgetFailedSignIns } from './sign-in-throttle.ts'
import { emailOf } from './users.ts'

/** What somebody signs in with, and where from. */
export interface Credentials {
  readonly email: string
  readonly password: string
  readonly address: string
}

/** Begins a session; resolves to its token. Throws `sign_in_refused` alike for all that can be wrong, or `too_many_tries`. */
export async function signIn(store: Store, credentials: Credentials): Promise<string> {
  const user = await prove(store, credentials, SIGN_IN_REFUSED)
  return exclusively(store, async (db) => {
    await checkUnchanged(db, user, SIGN_IN_REFUSED)
    await audit(db, actorOf(user, credentials), { action: 'session.start', object: objectOf(user) })
    return beginSession(db, user.id)
  })
}

/**
 * Changes the password of somebody who is signed in, and ends all their sessions; resolves to the token of a new one. Throws
 * `wrong_password`, `invalid_value` for the new one, or `too_many_tries`.
 */
export async function changePassword(store: Store, credentials: Credentials, next: string): Promise<string> {
  checkPassword(next, 'new', [credentials.email])
  const user = await prove(store, credentials, PASSWORD_REFUSED)
  const password = await hashPassword(next)
  return exclusively(store, async (db) => {
    await checkUnchanged(db, user, PASSWORD_REFUSED)
    await db.updateTable('users').set({ password }).where('id', '=', user.id).execute()
    await endSessions(db, user.id)
    await audit(db, actorOf(user, credentials), { action: 'password.change', object: objectOf(user) })
    return beginSession(db, user.id)
  })
}

/** A user who has proved who they are, and by what. */
interface Proven {
  readonly id: string
  readonly name: string
  /** As it is stored. */
  readonly password: string | null
}

/** What is said, and what the audit trail tells, where the proof fails. */
interface Refusal {
  readonly action: 'session.refuse' | 'password.refuse'
  /** Whether a session has proved before who it is. */
  readonly signedIn: boolean
  readonly error: () => GatewayError
}

/** Of the address and the password: neither can be told from the other. */
const SIGN_IN_REFUSED: Refusal = { action: 'session.refuse', signedIn: false, error: () => new GatewayError('sign_in_refused') }

const PASSWORD_REFUSED: Refusal = {
  action: 'password.refuse',
  signedIn: true,
  error: () => new GatewayError('wrong_password', { param: 'current' }),
}

/** Who has this address and this password. What goes wrong is counted, and told in the audit trail. */
async function prove(store: Store, credentials: Credentials, { action, signedIn, error }: Refusal): Promise<Proven> {
  const { password, address } = credentials
  const email = emailOf(credentials.email)
  await countFailedSignIn(store, { email, address })
  const user = await store.db
    .selectFrom('users')
    .select(['id', 'name', 'password'])
    .where('email', '=', email)
    .where('disabled_at', 'is', null)
    .executeTakeFirst()
  if (!(await isPassword(password, user?.password)) || user === undefined) {
    const object = { type: 'user', id: user?.id ?? null, name: user?.name ?? email } as const
    await audit(store.db, signedIn && user ? actorOf(user, credentials) : { address }, { action, object })
    throw error()
  }
  await forgetFailedSignIns(store, { email, address })
  return user
}

/** The proof takes a while. Whoever changed the password meanwhile, or was shut out, ended all sessions: none may begin by it now. */
async function checkUnchanged(db: Kysely<Schema>, { id, password }: Proven, { error }: Refusal): Promise<void> {
  const same = db.selectFrom('users').select('id').where('id', '=', id).where('password', '=', password)
  if ((await same.where('disabled_at', 'is', null).executeTakeFirst()) === undefined) throw error()
}

const actorOf = ({ id, name }: Proven, { address }: Credentials): Actor => ({ id, name, address })

const objectOf = ({ id, name }: Proven): AuditEntry['object'] => ({ type: 'user', id, name })
