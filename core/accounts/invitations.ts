import type { Kysely } from 'kysely'
import { GatewayError } from '../errors.ts'
import { digestOf } from '../keys/key.ts'
import type { Store } from '../store/database.ts'
import { newId } from '../store/id.ts'
import { mapPage, type Page, type PageQuery, readPage } from '../store/page.ts'
import type { Schema } from '../store/schema.ts'
import { type Actor, audit } from './audit.ts'
import { type Invitation, invitationOf, selectInvitations } from './invitation.ts'
import { createToken } from './token.ts'
import { EMAIL, emailOf, type User } from './user.ts'

/** How long an invitation is good for. */
const LIFE_MS = 7 * 24 * 3_600_000

/** Who is to be invited. */
export interface NewInvitation {
  readonly email: string
  readonly role: User['role']
  readonly account: string
}

/** An invitation, and the token of its link: in this and nowhere else. */
export interface MadeInvitation {
  readonly invitation: Invitation
  readonly token: string
}

/**
 * Invites somebody; an earlier invitation of theirs is void. Who is a user already, and is invited as what they are, chooses a new
 * password by it. Throws `invalid_value`, or `conflict` where they are something else.
 */
export async function invite(
  store: Store,
  { email: typed, role, account }: NewInvitation,
  actor: Actor,
): Promise<MadeInvitation> {
  const email = emailOf(typed)
  if (!EMAIL.test(email))
    throw new GatewayError('invalid_value', { param: 'email', values: { detail: 'it is not an e-mail address' } })
  const token = createToken()
  return store.db.transaction().execute(async (db) => {
    await checkInvitable(db, { email, role, account })
    const now = Date.now()
    await db
      .deleteFrom('invitations')
      .where((row) => row.or([row('email', '=', email), row('expires_at', '<=', now)]))
      .execute()
    const id = newId('inv')
    const by = { created_by: actor.id, created_by_name: actor.name, created_at: now, expires_at: now + LIFE_MS }
    await db
      .insertInto('invitations')
      .values({ id, digest: digestOf(token), email, role, account_id: account, ...by })
      .execute()
    const changes = { role: [null, role], account: [null, account] } as const
    await audit(db, actor, { action: 'invitation.create', object: { type: 'invitation', id, name: email }, changes })
    return {
      invitation: invitationOf(await selectInvitations(db).where('invitations.id', '=', id).executeTakeFirstOrThrow()),
      token,
    }
  })
}

/** Lists the open invitations, newest first. */
export async function listInvitations(store: Store, filter: PageQuery = {}): Promise<Page<Invitation>> {
  return mapPage(await readPage(store, selectInvitations(store.db), filter), invitationOf)
}

/** Makes an invitation void; resolves to the address it was for. Throws `object_not_found`. */
export async function withdrawInvitation(store: Store, id: string, actor: Actor): Promise<string> {
  return store.db.transaction().execute(async (db) => {
    const row = await db.deleteFrom('invitations').where('id', '=', id).returning('email').executeTakeFirst()
    if (row === undefined) throw new GatewayError('object_not_found', { values: { what: 'invitation' } })
    await audit(db, actor, { action: 'invitation.withdraw', object: { type: 'invitation', id, name: row.email } })
    return row.email
  })
}

async function checkInvitable(db: Kysely<Schema>, { email, role, account }: NewInvitation): Promise<void> {
  const user = await db.selectFrom('users').selectAll().where('email', '=', email).executeTakeFirst()
  if (user?.disabled_at != null) throw conflict(`${email} is shut out: let them in again first.`)
  if (user !== undefined && (user.role !== role || user.account_id !== account))
    throw conflict(`${email} is a user already, as ${user.role} of ${user.account_id}: invite them as that for a new password.`)
  const owner = await db.selectFrom('accounts').select('id').where('id', '=', account).executeTakeFirst()
  if (owner === undefined)
    throw new GatewayError('invalid_value', { param: 'account_id', values: { detail: 'there is no such account' } })
}

const conflict = (detail: string): GatewayError => new GatewayError('conflict', { values: { detail } })
