import { type QueryClient, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { ApiError, type BodyOf, get, type Schemas, send } from './http.ts'

/** The user, their account, and the gateway. */
export type Session = Schemas['Session']

/** A member sees their own account, an admin everything. */
export type Role = Session['user']['role']

/** The cache key of the session. */
export const SESSION = ['session'] as const

/** The cache key of whether the session has expired while its pages are open. */
const EXPIRED = ['session-expired'] as const

/** The cached queries that belong to no user. */
const PUBLIC: readonly unknown[] = [SESSION[0], EXPIRED[0], 'sign-in', 'invited-person']

/** The session; null: not signed in. One that expires stays, and with it what its pages hold: see `useSessionExpired`. */
export function useSession() {
  const client = useQueryClient()
  return useQuery({
    queryKey: SESSION,
    queryFn: async () => {
      const session = await readSession()
      const before = client.getQueryData<Session | null>(SESSION)
      const expired = session === null && before != null
      // Somebody else has signed in, in another tab: nothing of this page is theirs.
      if (session !== null && before != null && session.user.id !== before.user.id) window.location.reload()
      client.setQueryData(EXPIRED, expired)
      return expired ? before : session
    },
    staleTime: 60_000,
  })
}

/** Marks the session as expired, if there is one. */
export function expireSession(client: QueryClient): void {
  if (client.getQueryData(SESSION) != null) client.setQueryData(EXPIRED, true)
}

/** Whether the session has expired while its pages are open. */
export function useSessionExpired(): boolean {
  return useQuery({ queryKey: EXPIRED, queryFn: () => false, staleTime: Infinity }).data ?? false
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
      client.setQueryData(EXPIRED, false)
      client.removeQueries({ predicate: ({ queryKey }) => !PUBLIC.includes(queryKey[0]) })
      client.setQueryData(SESSION, session)
    },
  })
}

/** Signs in by password. */
export const useSignIn = () => useSessionChange((body: BodyOf<'post', '/session'>) => send('post', '/session', { body }))

/** Signs the user of an expired session in again. Another user begins with a new page. */
export function useSignInAgain() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (body: BodyOf<'post', '/session'>) => send('post', '/session', { body }),
    gcTime: 0,
    onSuccess: async (session) => {
      if (session.user.id !== client.getQueryData<Session>(SESSION)?.user.id) return window.location.reload()
      client.setQueryData(SESSION, session)
      client.setQueryData(EXPIRED, false)
      await client.invalidateQueries()
    },
  })
}

/** Confirms who the user is, by the password. */
export function useConfirm() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (body: BodyOf<'post', '/session/confirm'>) => send('post', '/session/confirm', { body }),
    gcTime: 0,
    onSuccess: (session) => client.setQueryData(SESSION, session),
  })
}

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
