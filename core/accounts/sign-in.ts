import type { Kysely } from 'kysely'
import { GatewayError } from '../errors.ts'
import type { Store } from '../store/database.ts'
import type { Schema } from '../store/schema.ts'
import { exclusively } from '../store/transaction.ts'
import { type Actor, type AuditEntry, audit } from './audit.ts'
import { knownDevice } from './known-devices.ts'
import { checkPassword, hashPassword, verifyPassword } from './password.ts'
import { beginSession, endSession, endSessions } from './sessions.ts'
import { clearSignInAttempts, countSignInAttempt } from './sign-in-throttle.ts'
import { normalizeEmail } from './user.ts'

/** An e-mail address and a password, and the client's address. */
export interface Credentials {
  readonly email: string
  readonly password: string
  readonly address: string
  /** The cookie of a browser that the user may have signed in with before. */
  readonly device?: string | undefined
  /** The digest of the user's open session, if there is one. */
  readonly session?: string
}

/** Signs a user in; resolves to the token of a new session. Throws `sign_in_refused` whatever is wrong, or `too_many_sign_in_attempts`. */
export async function signIn(store: Store, credentials: Credentials): Promise<string> {
  const user = await verifyCredentials(store, credentials, SIGN_IN_REFUSED)
  return exclusively(store, async (db) => {
    await checkUnchanged(db, user, SIGN_IN_REFUSED)
    await audit(db, actorOf(user, credentials), { action: 'session.start', object: objectOf(user) })
    return beginSession(db, user.id)
  })
}

/**
 * Changes the password of a user who is signed in, and ends all the user's sessions; resolves to the token of a new one. Throws
 * `wrong_password`, `invalid_value` for the new password, or `too_many_sign_in_attempts`.
 */
export async function changePassword(store: Store, credentials: Credentials, next: string): Promise<string> {
  await checkPassword(next, 'new', [credentials.email])
  const user = await verifyCredentials(store, credentials, PASSWORD_REFUSED)
  const password = await hashPassword(next)
  return exclusively(store, async (db) => {
    await checkUnchanged(db, user, PASSWORD_REFUSED)
    await db.updateTable('users').set({ password }).where('id', '=', user.id).execute()
    await endSessions(db, user.id)
    await audit(db, actorOf(user, credentials), { action: 'password.change', object: objectOf(user) })
    return beginSession(db, user.id)
  })
}

/**
 * Begins a new session in place of a user's open one, after the user has entered the password once more; resolves to its token. Throws
 * `wrong_password` or `too_many_sign_in_attempts`.
 */
export async function confirmSession(store: Store, credentials: Credentials & { readonly session: string }): Promise<string> {
  const user = await verifyCredentials(store, credentials, CONFIRMATION_REFUSED)
  return exclusively(store, async (db) => {
    await checkUnchanged(db, user, CONFIRMATION_REFUSED)
    await endSession(db, credentials.session)
    await audit(db, actorOf(user, credentials), { action: 'session.confirm', object: objectOf(user) })
    return beginSession(db, user.id)
  })
}

/** A user whose password has been verified. */
interface AuthenticatedUser {
  readonly id: string
  readonly name: string
  /** The stored hash. */
  readonly password: string | null
}

/** How a wrong password is refused: the error, and the line of the audit trail. */
interface Refusal {
  readonly action: 'session.refuse' | 'password.refuse'
  /** Whether the user is signed in already: then the user is the actor. */
  readonly signedIn: boolean
  readonly error: () => GatewayError
}

/** The same for an unknown address and a wrong password. */
const SIGN_IN_REFUSED: Refusal = { action: 'session.refuse', signedIn: false, error: () => new GatewayError('sign_in_refused') }

const passwordRefused = (param: string): Refusal => ({
  action: 'password.refuse',
  signedIn: true,
  error: () => new GatewayError('wrong_password', { param }),
})

const PASSWORD_REFUSED = passwordRefused('current')
const CONFIRMATION_REFUSED = passwordRefused('password')

/** Finds the user of an address and a password. A failure is counted, and written to the audit trail. */
async function verifyCredentials(
  store: Store,
  credentials: Credentials,
  { action, signedIn, error }: Refusal,
): Promise<AuthenticatedUser> {
  const { password, address, device, session } = credentials
  const email = normalizeEmail(credentials.email)
  const user = await store.db
    .selectFrom('users')
    .select(['id', 'name', 'password'])
    .where('email', '=', email)
    .where('disabled_at', 'is', null)
    .executeTakeFirst()
  const own = session ?? knownDevice(device, user)
  const attempt = { email, address, ...(own !== undefined && { own }) }
  await countSignInAttempt(store, attempt)
  if (!(await verifyPassword(password, user?.password)) || user === undefined) {
    const object = { type: 'user', id: user?.id ?? null, name: user?.name ?? email } as const
    await audit(store.db, signedIn && user ? actorOf(user, credentials) : { address }, { action, object })
    throw error()
  }
  await clearSignInAttempts(store, attempt)
  return user
}

/** Verifying takes a while: refuses a user who was disabled, or whose password was changed, in the meantime. */
async function checkUnchanged(db: Kysely<Schema>, { id, password }: AuthenticatedUser, { error }: Refusal): Promise<void> {
  const same = db.selectFrom('users').select('id').where('id', '=', id).where('password', '=', password)
  if ((await same.where('disabled_at', 'is', null).executeTakeFirst()) === undefined) throw error()
}

const actorOf = ({ id, name }: AuthenticatedUser, { address }: Credentials): Actor => ({ id, name, address })

const objectOf = ({ id, name }: AuthenticatedUser): AuditEntry['object'] => ({ type: 'user', id, name })
