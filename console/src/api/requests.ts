import { useQuery } from '@tanstack/react-query'
import { get, type QueryOf, type Schemas } from './http.ts'
import { useList } from './list.ts'

/** The record of a call, without its content. */
export type RequestRow = Schemas['Request']

/** Who caused a failure. */
export type Fault = NonNullable<RequestRow['fault']>

/** Calls, newest first. */
export const useRequests = (filters: QueryOf<'/requests'>) => useList('/requests', filters, true)

/** One call by its id. */
export function useRequest(id: string) {
  return useQuery({
    queryKey: ['/requests', id],
    queryFn: ({ signal }) => get('/requests/{id}', { id, signal }),
  })
}
