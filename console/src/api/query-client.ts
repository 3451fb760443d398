import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query'
import { ApiError } from './http.ts'
import { expireSession } from './session.ts'

const MAX_RETRIES = 2

/** The cache of queries. An error `not_signed_in` of any request means that the session has expired: the shell then asks to sign in. */
export const queryClient: QueryClient = new QueryClient({
  queryCache: new QueryCache({ onError: endSession }),
  mutationCache: new MutationCache({ onError: endSession }),
  defaultOptions: {
    queries: { staleTime: 10_000, retry: (failures, error) => failures < MAX_RETRIES && mayPass(error) },
  },
})

function endSession(error: unknown): void {
  if (error instanceof ApiError && error.code === 'not_signed_in') expireSession(queryClient)
}

/** Whether a request that failed may succeed when it is retried. */
const mayPass = (error: unknown): boolean => !(error instanceof ApiError) || error.status === 0 || error.status >= 500
