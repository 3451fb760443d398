import type { Kysely, Transaction } from 'kysely'
import { GatewayError } from '../errors.ts'
import type { Store } from '../store/database.ts'
import { contains, mapPage, type Page, type PageQuery, readPage } from '../store/page.ts'
import type { Schema } from '../store/schema.ts'
import { exclusively } from '../store/transaction.ts'
import { newId } from '../text/ids.ts'
import { type Actor, type AuditEntry, audit, changesBetween } from './audit.ts'
import { checkText } from './field-checks.ts'
import { endSessions } from './sessions.ts'
import { normalizeEmail, selectUsers, type User, userOf } from './user.ts'

/** What an admin can change of a user. */
export interface UserSettings {
  readonly name: string
  readonly role: User['role']
  /** A disabled user cannot sign in, and is signed out at once. */
  readonly disabled: boolean
}

/** Selects users. */
export interface UserFilter extends PageQuery {
  /** Part of the name, the e-mail address or the account's name, or the id. */
  readonly q?: string
}

/** Lists users, newest first. */
export async function listUsers(store: Store, filter: UserFilter = {}): Promise<Page<User>> {
  const { q } = filter
  const rows = selectUsers(store.db).$if(q !== undefined, (all) =>
    all.where((row) =>
      row.or([...['users.name', 'users.email', 'accounts.name'].map((column) => contains(column, q!)), row('users.id', '=', q!)]),
    ),
  )
  return mapPage(await readPage(store, rows, filter), userOf)
}

/**
 * Changes a user; another role, or disabling, ends the user's sessions. Throws `object_not_found`, `invalid_value`, or `conflict` if
 * no admin would be left.
 */
export async function editUser(
  store: Store,
  { id, ...settings }: Partial<UserSettings> & { readonly id: string },
  actor: Actor,
): Promise<User> {
  if (settings.name !== undefined) checkText('name', settings.name)
  return exclusively(store, async (db) => {
    const before = await findUser(db, id)
    const { name = before.name, role = before.role, disabled = before.disabledAt !== undefined } = settings
    if (before.role === 'admin' && (role !== 'admin' || disabled)) await checkOtherAdmin(db, id)
    const disabled_at = disabled ? (before.disabledAt ?? Date.now()) : null
    await db.updateTable('users').set({ name, role, disabled_at }).where('id', '=', id).execute()
    if (disabled || role !== before.role) await endSessions(db, id)
    const after = await findUser(db, id)
    await audit(db, actor, {
      action: 'user.edit',
      object: objectOf(after),
      changes: changesBetween(settingsOf(before), settingsOf(after)),
    })
    return after
  })
}

/** Signs a user out everywhere. Throws `object_not_found`. */
export async function endUserSessions(store: Store, id: string, actor: Actor): Promise<void> {
  await exclusively(store, async (db) => {
    const user = await findUser(db, id)
    await endSessions(db, id)
    await audit(db, actor, { action: 'session.end-all', object: objectOf(user) })
  })
}

async function findUser(db: Kysely<Schema>, id: string): Promise<User> {
  const row = await selectUsers(db).where('users.id', '=', id).executeTakeFirst()
  if (row === undefined) throw new GatewayError('object_not_found', { values: { what: 'user' } })
  return userOf(row)
}

async function checkOtherAdmin(db: Transaction<Schema>, id: string): Promise<void> {
  const other = await db
    .selectFrom('users')
    .select('id')
    .where('role', '=', 'admin')
    .where('disabled_at', 'is', null)
    .where('id', '!=', id)
    .limit(1)
    .executeTakeFirst()
  if (other === undefined)
    throw new GatewayError('conflict', { values: { detail: 'This is the last admin: make another user an admin first.' } })
}

const settingsOf = ({ name, role, disabledAt }: User) => ({ name, role, disabled: disabledAt !== undefined })

/** A user, as the audit trail names it. */
const objectOf = ({ id, name }: User): AuditEntry['object'] => ({ type: 'user', id, name })

/** A user to create. */
export interface NewUser {
  readonly email: string
  readonly name: string
  readonly role: User['role']
  readonly accountId: string
  /** The hash of the password, or the identity at the OpenID provider. */
  readonly credential: { readonly password: string } | { readonly identity: string }
}

/** Creates a user who followed a link: in the audit trail the user is the actor. Throws `conflict` if the address is taken. */
export async function createUser(db: Kysely<Schema>, user: NewUser, address: string): Promise<User> {
  const id = newId('usr')
  const { email, name, role, accountId } = user
  const row = {
    password: null,
    identity: null,
    ...user.credential,
    id,
    email: normalizeEmail(email),
    name,
    role,
    account_id: accountId,
  }
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('users')
    .values({ ...row, created_at: Date.now(), disabled_at: null, last_sign_in_at: null })
    .onConflict((conflict) => conflict.column('email').doNothing())
    .executeTakeFirstOrThrow()
  if (numInsertedOrUpdatedRows !== 1n) {
    throw new GatewayError('conflict', { values: { detail: `A user with the address ${row.email} exists already: sign in.` } })
  }
  const actor: Actor = { id, name, address }
  await audit(db, actor, {
    action: 'user.create',
    object: { type: 'user', id, name },
    changes: { email: [null, row.email], role: [null, role] },
  })
  return userOf(await selectUsers(db).where('users.id', '=', id).executeTakeFirstOrThrow())
}
