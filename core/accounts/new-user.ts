import type { Kysely } from 'kysely'
import { GatewayError } from '../errors.ts'
import { newId } from '../store/id.ts'
import type { Schema } from '../store/schema.ts'
import { type Actor, audit } from './audit.ts'
import { emailOf, selectUsers, type User, userOf } from './user.ts'

/** Who is to be a user. */
export interface NewUser {
  readonly email: string
  readonly name: string
  readonly role: 'admin' | 'member'
  readonly accountId: string
  /** The hash of their password, or the identity they have at the OpenID provider. */
  readonly credential: { readonly password: string } | { readonly identity: string }
}

/** Makes a user, who did it themselves by a link: so the audit trail tells it. Throws `conflict` where the address is taken. */
export async function createUser(db: Kysely<Schema>, user: NewUser, address: string): Promise<User> {
  const id = newId('usr')
  const { email, name, role, accountId } = user
  const row = { password: null, identity: null, ...user.credential, id, email: emailOf(email), name, role, account_id: accountId }
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('users')
    .values({ ...row, created_at: Date.now(), disabled_at: null, last_sign_in_at: null })
    .onConflict((conflict) => conflict.column('email').doNothing())
    .executeTakeFirstOrThrow()
  if (numInsertedOrUpdatedRows !== 1n) {
    throw new GatewayError('conflict', { values: { detail: `There is a user with the address ${row.email} already: sign in.` } })
  }
  const actor: Actor = { id, name, address }
  await audit(db, actor, {
    action: 'user.create',
    object: { type: 'user', id, name },
    changes: { email: [null, row.email], role: [null, role] },
  })
  return userOf(await selectUsers(db).where('users.id', '=', id).executeTakeFirstOrThrow())
}
