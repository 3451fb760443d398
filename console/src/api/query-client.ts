import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query'
import { ApiError } from './http.ts'
import { SESSION } from './session.ts'

const MAX_RETRIES = 2

/** The cache of all that was read. A session that ended anywhere ends everywhere: the shell then asks to sign in again. */
export const queryClient: QueryClient = new QueryClient({
  queryCache: new QueryCache({ onError: endSession }),
  mutationCache: new MutationCache({ onError: endSession }),
  defaultOptions: {
    queries: { staleTime: 10_000, retry: (failures, error) => failures < MAX_RETRIES && mayPass(error) },
  },
})

function endSession(error: unknown): void {
  if (error instanceof ApiError && error.code === 'not_signed_in') queryClient.setQueryData(SESSION, null)
}

/** Only what may be different the next time is tried again. */
const mayPass = (error: unknown): boolean => !(error instanceof ApiError) || error.status === 0 || error.status >= 500
