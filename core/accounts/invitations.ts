import type { Kysely } from 'kysely'
import { GatewayError } from '../errors.ts'
import type { Store } from '../store/database.ts'
import { contains, mapPage, type Page, type PageQuery, readPage } from '../store/page.ts'
import type { InvitationsTable, Schema } from '../store/schema.ts'
import { exclusively } from '../store/transaction.ts'
import { digestOf, newId } from '../text/ids.ts'
import { type Actor, audit } from './audit.ts'
import { checkText } from './field-checks.ts'
import { checkPassword, hashPassword } from './password.ts'
import { beginSession, endSessions } from './sessions.ts'
import { createToken } from './tokens.ts'
import { EMAIL_PATTERN, normalizeEmail, type User } from './user.ts'
import { createUser, type NewUser } from './users.ts'

/** How long an invitation is valid. */
const LIFETIME_MS = 7 * 24 * 3_600_000

/** An open invitation. Times are milliseconds since 1970. */
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

/** An invitation to create. */
export interface NewInvitation {
  readonly email: string
  readonly role: User['role']
  /** The account's id. */
  readonly account: string
}

/** A new invitation, and the token of its link, which is stored nowhere. */
export interface CreatedInvitation {
  readonly invitation: Invitation
  readonly token: string
}

/**
 * Invites a person; an earlier invitation to the same address becomes void. A user who is invited again, with the same role and
 * account, chooses a new password by it. Throws `invalid_value`, or `conflict` if role or account differ or the user is disabled.
 */
export async function invite(
  store: Store,
  { email: typed, role, account }: NewInvitation,
  actor: Actor,
): Promise<CreatedInvitation> {
  const email = normalizeEmail(typed)
  if (!EMAIL_PATTERN.test(email))
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
    const by = { created_by: actor.id, created_by_name: actor.name, created_at: now, expires_at: now + LIFETIME_MS }
    await db
      .insertInto('invitations')
      .values({ id, digest: digestOf(token), email, role, account_id: account, ...by })
      .execute()
    const changes = { role: [null, role], account: [null, account] } as const
    await audit(db, actor, { action: 'invitation.create', object: { type: 'invitation', id, name: email }, changes })
    const row = await selectInvitations(db).where('invitations.id', '=', id).executeTakeFirstOrThrow()
    return { invitation: invitationOf(row), token }
  })
}

async function checkInvitable(db: Kysely<Schema>, { email, role, account }: NewInvitation): Promise<void> {
  const user = await db.selectFrom('users').selectAll().where('email', '=', email).executeTakeFirst()
  if (user?.disabled_at != null) throw conflict(`The user ${email} is disabled: enable them first.`)
  if (user !== undefined && (user.role !== role || user.account_id !== account))
    throw conflict(
      `${email} is a user already, with the role ${user.role} in the account ${user.account_id}: invite them with these for a new password.`,
    )
  const owner = await db.selectFrom('accounts').select('id').where('id', '=', account).executeTakeFirst()
  if (owner === undefined)
    throw new GatewayError('invalid_value', { param: 'account_id', values: { detail: 'there is no such account' } })
}

const conflict = (detail: string): GatewayError => new GatewayError('conflict', { values: { detail } })

/** Selects invitations. */
export interface InvitationFilter extends PageQuery {
  /** Part of the e-mail address or the account's name. */
  readonly q?: string
}

/** Lists the open invitations, newest first. */
export async function listInvitations(store: Store, filter: InvitationFilter = {}): Promise<Page<Invitation>> {
  const { q } = filter
  const rows = selectInvitations(store.db).$if(q !== undefined, (all) =>
    all.where((row) => row.or(['invitations.email', 'accounts.name'].map((column) => contains(column, q!)))),
  )
  return mapPage(await readPage(store, rows, filter), invitationOf)
}

/** Withdraws an invitation; resolves to its e-mail address. Throws `object_not_found`. */
export async function withdrawInvitation(store: Store, id: string, actor: Actor): Promise<string> {
  return store.db.transaction().execute(async (db) => {
    const row = await db.deleteFrom('invitations').where('id', '=', id).returning('email').executeTakeFirst()
    if (row === undefined) throw new GatewayError('object_not_found', { values: { what: 'invitation' } })
    await audit(db, actor, { action: 'invitation.withdraw', object: { type: 'invitation', id, name: row.email } })
    return row.email
  })
}

/** Finds the open invitation of a link. Throws `link_invalid`. */
export async function findInvitationByToken({ db }: Store, token: string): Promise<Invitation> {
  const row = await selectInvitations(db).where('invitations.digest', '=', digestOf(token)).executeTakeFirst()
  if (row === undefined) throw new GatewayError('link_invalid')
  return invitationOf(row)
}

/** Finds the open invitation of an e-mail address; undefined if absent. */
export async function findInvitationByEmail(db: Kysely<Schema>, email: string): Promise<Invitation | undefined> {
  const row = await selectInvitations(db).where('invitations.email', '=', normalizeEmail(email)).executeTakeFirst()
  return row && invitationOf(row)
}

/** Selects the open invitations with their accounts; `invitationOf` reads the rows. */
function selectInvitations(db: Kysely<Schema>) {
  return db
    .selectFrom('invitations')
    .innerJoin('accounts', 'accounts.id', 'invitations.account_id')
    .selectAll('invitations')
    .select('accounts.name as account_name')
    .where('invitations.expires_at', '>', Date.now())
}

function invitationOf(row: InvitationsTable & { readonly account_name: string }): Invitation {
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

/** What an invited person sends to accept an invitation. */
export interface Acceptance {
  /** Of the link. */
  readonly token: string
  readonly name: string
  readonly password: string
  /** The client's address. */
  readonly address: string
}

/** Accepts the invitation of a link; resolves to the token of a new session. Throws `link_invalid` or `invalid_value`. */
export async function acceptInvitation(store: Store, { token, name, password, address }: Acceptance): Promise<string> {
  const invitation = await findInvitationByToken(store, token)
  checkText('name', name)
  await checkPassword(password, 'password', [token, invitation.email])
  const credential = { password: await hashPassword(password) }
  return exclusively(store, (db) => redeemInvitation(db, invitation, { name, credential, address }))
}

/**
 * Uses an invitation up: creates the user, or replaces the credential of the user who has the address, and begins a session; resolves
 * to its token. Throws `link_invalid`.
 */
export async function redeemInvitation(
  db: Kysely<Schema>,
  { id, email, role, account }: Invitation,
  { name, credential, address }: Pick<NewUser, 'name' | 'credential'> & { readonly address: string },
): Promise<string> {
  // Of concurrent requests with the link, one deletes the row.
  const { numDeletedRows } = await db.deleteFrom('invitations').where('id', '=', id).executeTakeFirstOrThrow()
  if (numDeletedRows !== 1n) throw new GatewayError('link_invalid')
  const existing = await replaceCredential(db, { email, name, credential }, address)
  const user = existing ?? (await createUser(db, { email, name, role, accountId: account.id, credential }, address))
  await audit(db, { ...user, address }, { action: 'invitation.accept', object: { type: 'invitation', id, name: email } })
  return beginSession(db, user.id)
}

/**
 * Gives the user of an address a new password, or another identity at the OpenID provider, and ends the user's sessions: this recovers
 * a lost password. Resolves to the user; undefined if no user has the address.
 */
async function replaceCredential(
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
