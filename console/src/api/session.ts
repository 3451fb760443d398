import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { ApiError, get, send } from './http.ts'

/** What a user may do: a member sees the own account, an admin everything. */
export type Role = 'admin' | 'member'

/** Who is signed in, and to what. */
export interface Session {
  readonly user: { readonly id: string; readonly email: string; readonly name: string; readonly role: Role }
  readonly account: { readonly id: string; readonly name: string }
  /** `base_url`: as clients use it, it ends in `/v1`. */
  readonly gateway: { readonly base_url: string; readonly version: string }
}

/** Which ways in there are. */
export interface SignInWays {
  readonly password: boolean
  readonly oidc: { readonly name: string; readonly path: string } | null
  /** Nobody has an account yet: the setup link is the only way. */
  readonly setup_needed: boolean
}

/** Whom an invitation was made for. */
export interface InvitedPerson {
  readonly email: string
  readonly role: Role
  readonly account: { readonly id: string; readonly name: string }
}

/** Where the cache keeps the session. */
export const SESSION = ['session'] as const

/** What the cache keeps whoever is signed in. */
const OF_NOBODY: readonly unknown[] = [SESSION[0], 'sign-in', 'invited-person']

/** The session; null: nobody is signed in. */
export function useSession() {
  return useQuery({ queryKey: SESSION, queryFn: readSession, staleTime: 60_000 })
}

/** The session, on pages that are shown to those who have one. */
export function useSignedIn(): Session {
  const { data } = useSession()
  if (data == null) throw new Error('nobody is signed in')
  return data
}

async function readSession(): Promise<Session | null> {
  try {
    return await get<Session>('/session')
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return null
    throw error
  }
}

/** The ways in. */
export function useSignInWays() {
  return useQuery({ queryKey: ['sign-in'], queryFn: () => get<SignInWays>('/sign-in') })
}

/** Anything that ends with a new session, or without one: what was read before is forgotten. */
function useSessionChange<Input extends object>(change: (input: Input) => Promise<unknown>) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: change,
    gcTime: 0,
    onSuccess: async () => {
      const session = await readSession()
      client.removeQueries({ predicate: ({ queryKey }) => !OF_NOBODY.includes(queryKey[0]) })
      client.setQueryData(SESSION, session)
    },
  })
}

/** Signs in by password. */
export const useSignIn = () =>
  useSessionChange((input: { readonly email: string; readonly password: string }) => send('POST', '/session', input))

/** Signs out: here, or everywhere. */
export const useSignOut = () =>
  useSessionChange(({ everywhere = false }: { readonly everywhere?: boolean }) =>
    send('DELETE', everywhere ? '/sessions' : '/session'),
  )

/** Makes the first admin, by the one-time setup link. */
export const useSetup = () =>
  useSessionChange(
    (input: { readonly token: string; readonly email: string; readonly name: string; readonly password: string }) =>
      send('POST', '/setup', input),
  )

/** Makes the invited user. */
export const useAcceptInvitation = () =>
  useSessionChange((input: { readonly token: string; readonly name: string; readonly password: string }) =>
    send('POST', '/invitations/accept', input),
  )

/** Whom the invitation of a link is for. */
export function useInvitedPerson(token: string) {
  return useQuery({
    queryKey: ['invited-person', token],
    queryFn: () => send<InvitedPerson>('POST', '/invitations/look', { token }),
    enabled: token !== '',
    retry: false,
    gcTime: 0,
  })
}

/** Changes the own password; every other session of the user ends. */
export function useChangePassword() {
  return useMutation({
    mutationFn: (input: { readonly current: string; readonly new: string }) => send('POST', '/password', input),
    gcTime: 0,
  })
}
