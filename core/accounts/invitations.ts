import type { Kysely } from 'kysely'
import { GatewayError } from '../errors.ts'
import type { Store } from '../store/database.ts'
import { mapPage, type Page, type PageQuery, readPage } from '../store/page.ts'
import type { InvitationsTable, Schema } from '../store/schema.ts'
import { exclusively } from '../store/transaction.ts'
import { digestOf, newId } from '../text/ids.ts'
import { type Actor, audit } from './audit.ts'
import { createToken } from './links.ts'
import { checkPassword, hashPassword } from './password.ts'
import { beginSession, endSessions } from './sessions.ts'
import { checkText } from './text.ts'
import { createUser, EMAIL, emailOf, type NewUser, type User } from './users.ts'

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

/** Somebody who may become a user. Times are milliseconds since 1970. */
export interface Invitation {
  /** `inv_…` */
  readonly id: string
  readonly email: string
  readonly role: User['role']
  readonly account: { readonly id: string; readonly name: string }
  readonly createdAt: number
  readonly createdBy: { readonly id: string; readonly name: string }
  readonly expiresAt: number
}

/** Selects the open invitations with their accounts; `invitationOf` reads the rows. */
export function selectInvitations(db: Kysely<Schema>) {
  return db
    .selectFrom('invitations')
    .innerJoin('accounts', 'accounts.id', 'invitations.account_id')
    .selectAll('invitations')
    .select('accounts.name as account_name')
    .where('invitations.expires_at', '>', Date.now())
}

/** The invitation that a row of `selectInvitations` tells of. */
export function invitationOf(row: InvitationsTable & { readonly account_name: string }): Invitation {
  return {
    id: row.id,
    email: row.email,
    role: row.role,
    account: { id: row.account_id, name: row.account_name },
    createdAt: row.created_at,
    createdBy: { id: row.created_by, name: row.created_by_name },
    expiresAt: row.expires_at,
  }
}

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
  return exclusively(store, (db) => admit(db, invitation, { name, credential, address }))
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

/**
 * Gives a user of this address a new password, or another identity at the OpenID provider, and ends their sessions: how somebody who
 * has lost the old one comes back. Resolves to who it is; undefined where nobody has the address.
 */
export async function renewUser(
  db: Kysely<Schema>,
  { email, name, credential }: Pick<NewUser, 'email' | 'name' | 'credential'>,
  address: string,
): Promise<{ readonly id: string; readonly name: string } | undefined> {
  const user = await db
    .updateTable('users')
    .set({ ...credential, name })
    .where('email', '=', email)
    .where('disabled_at', 'is', null)
    .returning(['id', 'name'])
    .executeTakeFirst()
  if (user === undefined) return undefined
  await endSessions(db, user.id)
  await audit(db, { ...user, address }, { action: 'password.change', object: { type: 'user', ...user } })
  return user
}
