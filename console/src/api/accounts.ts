import { useQuery } from '@tanstack/react-query'
import { useChange } from './change.ts'
import { type BodyOf, get, type QueryOf, type Schemas, send } from './http.ts'
import { useList } from './list.ts'

/** An account: it owns keys, and limits them. */
export type Account = Schemas['Account']

/** A person who signs in. */
export type User = Schemas['User']

/** An open invitation. */
export type Invitation = Schemas['Invitation']

/** A new invitation, with its link. */
export type CreatedInvitation = Schemas['CreatedInvitation']

/** Accounts; for a member, their own. */
export const useAccounts = (filters: QueryOf<'/accounts'> = {}) => useList('/accounts', filters)

/** One account; '': none. */
export function useAccount(id: string) {
  return useQuery({
    queryKey: ['/accounts', id],
    queryFn: ({ signal }) => get('/accounts/{id}', { id, signal }),
    enabled: id !== '',
  })
}

/** Users. */
export const useUsers = (filters: QueryOf<'/users'>) => useList('/users', filters)

/** The open invitations. */
export const useInvitations = (filters: QueryOf<'/invitations'>) => useList('/invitations', filters)

/** Creates an account. */
export const useCreateAccount = () =>
  useChange((body: BodyOf<'post', '/accounts'>) => send('post', '/accounts', { body }), '/accounts')

/** Changes an account. */
export const useEditAccount = () =>
  useChange(
    ({ id, ...body }: BodyOf<'patch', '/accounts/{id}'> & { readonly id: string }) =>
      send('patch', '/accounts/{id}', { id, body }),
    '/accounts',
    '/keys',
  )

/** Changes a user's name or role, or disables or enables the user, and may revoke the keys that the user created. */
export const useEditUser = () =>
  useChange(
    ({ id, ...body }: BodyOf<'patch', '/users/{id}'> & { readonly id: string }) => send('patch', '/users/{id}', { id, body }),
    '/users',
    '/keys',
  )

/** Signs a user out everywhere. */
export const useEndSessions = () =>
  useChange(({ id }: { readonly id: string }) => send('post', '/users/{id}/end-sessions', { id }), '/users')

/** Creates an invitation; only the reply has its link. */
export const useInvite = () =>
  useChange((body: BodyOf<'post', '/invitations'>) => send('post', '/invitations', { body }), '/invitations')

/** Withdraws an invitation. */
export const useWithdrawInvitation = () =>
  useChange(({ id }: { readonly id: string }) => send('delete', '/invitations/{id}', { id }), '/invitations')
