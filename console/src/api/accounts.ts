import { useChange } from './change.ts'
import { send } from './http.ts'
import type { Named } from './keys.ts'
import { useList } from './list.ts'
import type { Role } from './session.ts'

/** An account: it owns keys, and bounds what they may do. */
export interface Account extends Named {
  /** Globs; `*` is any model. */
  readonly models: readonly string[]
  readonly rate_class: string | null
  readonly created_at: string
  /** Those that are not revoked. */
  readonly keys: number
  readonly users: number
}

/** A person who signs in. */
export interface User extends Named {
  readonly email: string
  readonly role: Role
  readonly account: Named
  readonly created_at: string
  readonly last_sign_in_at: string | null
  readonly disabled: boolean
}

/** An invitation that nobody has accepted yet. */
export interface Invitation {
  readonly id: string
  readonly email: string
  readonly role: Role
  readonly account: Named
  readonly created_at: string
  readonly expires_at: string
}

/** What an account is made of. */
export interface AccountFields {
  readonly name: string
  readonly models: readonly string[]
  readonly rate_class: string | null
}

/** What an invitation is made of. */
export interface InvitationOrder {
  readonly email: string
  readonly role: Role
  readonly account_id: string
}

const ACCOUNTS = '/accounts'
const USERS = '/users'
const INVITATIONS = '/invitations'

/** All accounts; a member sees the own one. */
export const useAccounts = (limit?: number) => useList<Account>(ACCOUNTS, { limit })

/** All users. */
export const useUsers = () => useList<User>(USERS)

/** Invitations that wait. */
export const useInvitations = () => useList<Invitation>(INVITATIONS)

/** Makes an account. */
export const useCreateAccount = () => useChange((fields: AccountFields) => send<Account>('POST', ACCOUNTS, fields), ACCOUNTS)

/** Changes an account. */
export const useEditAccount = () =>
  useChange(
    ({ id, ...fields }: AccountFields & { readonly id: string }) => send<Account>('PATCH', `${ACCOUNTS}/${id}`, fields),
    ACCOUNTS,
    '/keys',
  )

/** Changes a user's name or role, or shuts the user out. */
export const useEditUser = () =>
  useChange(
    ({ id, ...fields }: { readonly id: string; readonly name?: string; readonly role?: Role; readonly disabled?: boolean }) =>
      send<User>('PATCH', `${USERS}/${id}`, fields),
    USERS,
  )

/** Signs a user out everywhere. */
export const useEndSessions = () =>
  useChange(({ id }: { readonly id: string }) => send('POST', `${USERS}/${id}/end-sessions`), USERS)

/** Makes an invitation; its link is told once. */
export const useInvite = () =>
  useChange((order: InvitationOrder) => send<Invitation & { readonly link: string }>('POST', INVITATIONS, order), INVITATIONS)

/** Takes an invitation back. */
export const useWithdrawInvitation = () =>
  useChange(({ id }: { readonly id: string }) => send('DELETE', `${INVITATIONS}/${id}`), INVITATIONS)
