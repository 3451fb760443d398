import type { Kysely, Transaction } from 'kysely'
import { GatewayError } from '../errors.ts'
import type { Store } from '../store/database.ts'
import { mapPage, type Page, type PageQuery, readPage } from '../store/page.ts'
import type { Schema, UsersTable } from '../store/schema.ts'
import { exclusively } from '../store/transaction.ts'
import { newId } from '../text/ids.ts'
import { type Actor, type AuditEntry, audit, changesBetween } from './audit.ts'
import { endSessions } from './sessions.ts'
import { checkText } from './text.ts'

/** What a user can be told to be. */
export interface UserSettings {
  readonly name: string
  readonly role: User['role']
  /** A disabled user cannot sign in, and is signed out at once. */
  readonly disabled: boolean
}

/** Lists users, newest first. */
export async function listUsers(store: Store, filter: PageQuery = {}): Promise<Page<User>> {
  return mapPage(await readPage(store, selectUsers(store.db), filter), userOf)
}

/**
 * Changes a user. Whoever may do less than before is signed out. Throws `object_not_found`, `invalid_value`, or `conflict` where
 * nobody would be left to manage the gateway.
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
    if (before.role === 'admin' && (role !== 'admin' || disabled)) await checkNotLast(db, id)
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
  await store.db.transaction().execute(async (db) => {
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

async function checkNotLast(db: Transaction<Schema>, id: string): Promise<void> {
  const other = await db
    .selectFrom('users')
    .select('id')
    .where('role', '=', 'admin')
    .where('disabled_at', 'is', null)
    .where('id', '!=', id)
    .limit(1)
    .executeTakeFirst()
  if (other === undefined)
    throw new GatewayError('conflict', { values: { detail: 'This is the last admin: make somebody else an admin first.' } })
}

const settingsOf = ({ name, role, disabledAt }: User) => ({ name, role, disabled: disabledAt !== undefined })

/** A user, as the audit trail names it. */
const objectOf = ({ id, name }: User): AuditEntry['object'] => ({ type: 'user', id, name })

/** Who signs in. Times are milliseconds since 1970. */
export interface User {
  /** `usr_…` */
  readonly id: string
  readonly email: string
  readonly name: string
  /** An admin sees and changes everything; a member what is their account's. */
  readonly role: 'admin' | 'member'
  readonly account: { readonly id: string; readonly name: string }
  readonly createdAt: number
  /** Since then they cannot sign in. */
  readonly disabledAt?: number
  readonly lastSignInAt?: number
}

/** Selects users with their accounts; `userOf` reads the rows. */
export function selectUsers(db: Kysely<Schema>) {
  return db
    .selectFrom('users')
    .innerJoin('accounts', 'accounts.id', 'users.account_id')
    .select(['users.id', 'users.email', 'users.name', 'users.role', 'users.account_id', 'accounts.name as account_name'])
    .select(['users.created_at', 'users.disabled_at', 'users.last_sign_in_at'])
}

/** A row of `selectUsers`. */
export type UserRow = Omit<UsersTable, 'password' | 'identity'> & { readonly account_name: string }

/** The user that a row of `selectUsers` tells of. */
export function userOf(row: UserRow): User {
  return {
    id: row.id,
    email: row.email,
    name: row.name,
    role: row.role,
    account: { id: row.account_id, name: row.account_name },
    createdAt: row.created_at,
    disabledAt: row.disabled_at ?? undefined,
    lastSignInAt: row.last_sign_in_at ?? undefined,
  }
}

/** As far as a form looks at it: the proof of an address is that its owner got the invitation. */
export const EMAIL = /^[^\s@\p{C}]{1,64}@[^\s@\p{C}]{1,190}$/u

/** An e-mail address as it is kept and compared. */
export const emailOf = (text: string): string => text.trim().toLowerCase()

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
