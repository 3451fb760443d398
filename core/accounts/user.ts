import type { Kysely } from 'kysely'
import type { Schema, UsersTable } from '../store/schema.ts'

/** A person who signs in. Times are milliseconds since 1970. */
export interface User {
  /** `usr_…` */
  readonly id: string
  readonly email: string
  readonly name: string
  /** An admin sees and changes everything; a member what belongs to their account. */
  readonly role: 'admin' | 'member'
  readonly account: { readonly id: string; readonly name: string }
  readonly createdAt: number
  /** Since then the user cannot sign in. */
  readonly disabledAt?: number
  readonly lastSignInAt?: number
  /** False: the user signs in by the OpenID provider only. */
  readonly hasPassword: boolean
}

/** Selects users with their accounts; `userOf` reads the rows. */
export function selectUsers(db: Kysely<Schema>) {
  return db
    .selectFrom('users')
    .innerJoin('accounts', 'accounts.id', 'users.account_id')
    .select(['users.id', 'users.email', 'users.name', 'users.role', 'users.account_id', 'accounts.name as account_name'])
    .select(['users.created_at', 'users.disabled_at', 'users.last_sign_in_at'])
    .select((row) => row('users.password', 'is not', null).as('has_password'))
}

type UserRow = Omit<UsersTable, 'password' | 'identity'> & {
  readonly account_name: string
  /** SQLite has no booleans, whatever the types of the query say. */
  readonly has_password: unknown
}

/** The user of a row of `selectUsers`. */
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
    hasPassword: Boolean(row.has_password),
  }
}

/** The form of an e-mail address, no more: that the owner received the invitation proves the address. */
export const EMAIL_PATTERN =
  /^[^\s@\p{C}\p{Default_Ignorable_Code_Point}]{1,64}@[^\s@\p{C}\p{Default_Ignorable_Code_Point}]{1,190}$/u

/** An e-mail address as it is stored and compared. */
export const normalizeEmail = (text: string): string => text.trim().toLowerCase()
