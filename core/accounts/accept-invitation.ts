import type { Kysely } from 'kysely'
import { GatewayError } from '../errors.ts'
import { digestOf } from '../keys/key.ts'
import { alone } from '../store/alone.ts'
import type { Store } from '../store/database.ts'
import type { Schema } from '../store/schema.ts'
import { audit } from './audit.ts'
import { type Invitation, invitationOf, selectInvitations } from './invitation.ts'
import { createUser, type NewUser } from './new-user.ts'
import { checkPassword, hashPassword } from './password.ts'
import { renewUser } from './renew-user.ts'
import { beginSession } from './sessions.ts'
import { checkText } from './text.ts'
import { emailOf } from './user.ts'

/** What an invited person makes of the link. */
export interface Acceptance {
  /** The link's. */
  readonly token: string
  readonly name: string
  readonly password: string
  readonly address: string
}

/** The open invitation of a link. Throws `link_invalid`. */
export async function lookAtInvitation({ db }: Store, token: string): Promise<Invitation> {
  const row = await selectInvitations(db).where('invitations.digest', '=', digestOf(token)).executeTakeFirst()
  if (row === undefined) throw new GatewayError('link_invalid')
  return invitationOf(row)
}

/** Makes the invited person a user and begins their session; resolves to its token. Throws `link_invalid` or `invalid_value`. */
export async function acceptInvitation(store: Store, { token, name, password, address }: Acceptance): Promise<string> {
  const invitation = await lookAtInvitation(store, token)
  checkText('name', name)
  checkPassword(password, 'password', [token, invitation.email])
  const credential = { password: await hashPassword(password) }
  return alone(store, (db) => admit(db, invitation, { name, credential, address }))
}

/** The open invitation of an e-mail address, if there is one. */
export async function findInvitation(db: Kysely<Schema>, email: string): Promise<Invitation | undefined> {
  const row = await selectInvitations(db).where('invitations.email', '=', emailOf(email)).executeTakeFirst()
  return row && invitationOf(row)
}

/**
 * Makes an invited person a user, once, and begins their session; resolves to its token. Somebody who is one already comes back by it.
 * Throws `link_invalid`.
 */
export async function admit(
  db: Kysely<Schema>,
  { id, email, role, account }: Invitation,
  { name, credential, address }: Pick<NewUser, 'name' | 'credential'> & { readonly address: string },
): Promise<string> {
  // Of several who use the link at once, one removes it.
  const { numDeletedRows } = await db.deleteFrom('invitations').where('id', '=', id).executeTakeFirstOrThrow()
  if (numDeletedRows !== 1n) throw new GatewayError('link_invalid')
  const known = await renewUser(db, { email, name, credential }, address)
  const user = known ?? (await createUser(db, { email, name, role, accountId: account.id, credential }, address))
  await audit(db, { ...user, address }, { action: 'invitation.accept', object: { type: 'invitation', id, name: email } })
  return beginSession(db, user.id)
}
