import type { Kysely } from 'kysely'
import type { InvitationsTable, Schema } from '../store/schema.ts'
import type { User } from './user.ts'

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
