import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { get, type QueryOf, type Schemas } from './http.ts'

/** Counts of calls and tokens. */
export type UsageTotals = Schemas['UsageTotals']

/** Usage over time, by group. */
export type Usage = Schemas['Usage']

/** Sooner while there is no call yet. */
const REFRESH_MS = { empty: 2_000, filled: 30_000 }

/** Usage; when the query changes, the previous reply stays until the new one is read. */
export function useUsage(query: QueryOf<'/usage'>) {
  return useQuery({
    queryKey: ['/usage', query],
    queryFn: ({ signal }) => get('/usage', { query, signal }),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => REFRESH_MS[state.data?.totals.requests === 0 ? 'empty' : 'filled'],
  })
}
