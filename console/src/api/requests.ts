import { useQuery } from '@tanstack/react-query'
import { get } from './http.ts'
import type { Named } from './keys.ts'
import { useList } from './list.ts'

/** Whose doing a failure was. */
export type Fault = 'caller' | 'policy' | 'upstream' | 'gateway'

/** One try at one target. */
export interface Attempt {
  readonly namespace: string
  readonly model: string
  readonly provider: string
  readonly result: string
  readonly ms: number
}

/** What one link of the chain took of its own. */
export interface LinkTime {
  readonly name: string
  readonly ms: number
}

/** One call, without its content. */
export interface RequestRow {
  /** `req_…`: the reply's `x-request-id`. */
  readonly id: string
  readonly at: string
  readonly key: Named | null
  readonly account: Named | null
  readonly endpoint: string
  /** As the client asked for it. */
  readonly model: string | null
  readonly served: { readonly namespace: string; readonly model: string; readonly provider: string } | null
  readonly stream: boolean
  readonly status: number
  readonly outcome: string
  readonly fault: Fault | null
  readonly error: { readonly code: string | null; readonly row: string } | null
  readonly attempts: readonly Attempt[]
  /** In the chain's order. */
  readonly links: readonly LinkTime[]
  /** Milliseconds. */
  readonly ms: { readonly total: number; readonly first_byte: number | null; readonly overhead: number }
  readonly tokens: {
    readonly input: number
    readonly output: number
    readonly cached: number
    readonly reasoning: number
    readonly estimated: boolean
  } | null
  readonly tags: Readonly<Record<string, string>>
}

/** What the list is narrowed to. */
export interface RequestFilters {
  readonly q: string
  readonly model: string
  readonly key_id: string
  readonly account_id: string
  readonly fault: string
  readonly from: string
  readonly to: string
}

/** Calls, the newest first. */
export const useRequests = (filters: Partial<RequestFilters>) => useList<RequestRow>('/requests', { ...filters }, true)

/** One call by its id. */
export function useRequest(id: string) {
  return useQuery({
    queryKey: ['/requests', id],
    queryFn: ({ signal }) => get<RequestRow>(`/requests/${encodeURIComponent(id)}`, {}, signal),
  })
}
