import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { ApiError, type BodyOf, get, type Schemas, send } from './http.ts'

/** The user, their account, and the gateway. */
export type Session = Schemas['Session']

/** A member sees their own account, an admin everything. */
export type Role = Session['user']['role']

/** The cache key of the session. */
export const SESSION = ['session'] as const

/** The cached queries that belong to no user. */
const PUBLIC: readonly unknown[] = [SESSION[0], 'sign-in', 'invited-person']

/** The session; null: not signed in. */
export function useSession() {
  return useQuery({ queryKey: SESSION, queryFn: readSession, staleTime: 60_000 })
}

/** The session, on pages for signed-in users. */
export function useSignedIn(): Session {
  const { data } = useSession()
  if (data == null) throw new Error('not signed in')
  return data
}

async function readSession(): Promise<Session | null> {
  try {
    return await get('/session', {})
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return null
    throw error
  }
}

/** The methods to sign in. */
export function useSignInMethods() {
  return useQuery({ queryKey: ['sign-in'], queryFn: () => get('/sign-in', {}) })
}

/** A change that begins or ends a session: everything cached for the previous user is removed. */
function useSessionChange<Input extends object>(change: (input: Input) => Promise<unknown>) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: change,
    gcTime: 0,
    onSuccess: async () => {
      const session = await readSession()
      client.removeQueries({ predicate: ({ queryKey }) => !PUBLIC.includes(queryKey[0]) })
      client.setQueryData(SESSION, session)
    },
  })
}

/** Signs in by password. */
export const useSignIn = () => useSessionChange((body: BodyOf<'post', '/session'>) => send('post', '/session', { body }))

/** Signs out: here, or everywhere. */
export const useSignOut = () =>
  useSessionChange(({ everywhere = false }: { readonly everywhere?: boolean }) =>
    send('delete', everywhere ? '/sessions' : '/session', {}),
  )

/** Creates the first admin, by the one-time setup link. */
export const useSetup = () => useSessionChange((body: BodyOf<'post', '/setup'>) => send('post', '/setup', { body }))

/** Creates the invited user. */
export const useAcceptInvitation = () =>
  useSessionChange((body: BodyOf<'post', '/invitations/accept'>) => send('post', '/invitations/accept', { body }))

/** The person whom the invitation of a link is for. */
export function useInvitedPerson(token: string) {
  return useQuery({
    queryKey: ['invited-person', token],
    queryFn: () => send('post', '/invitations/look', { body: { token } }),
    enabled: token !== '',
    retry: false,
    gcTime: 0,
  })
}

/** Changes the user's own password; the user's other sessions end. */
export function useChangePassword() {
  return useMutation({
    mutationFn: (body: BodyOf<'post', '/password'>) => send('post', '/password', { body }),
    gcTime: 0,
  })
}
