import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { get } from './http.ts'

/** What is counted. */
export interface Measures {
  readonly requests: number
  readonly errors: number
  readonly input_tokens: number
  readonly output_tokens: number
  /** Of the input. */
  readonly cached_tokens: number
  /** Of the output. */
  readonly reasoning_tokens: number
}

/** Usage over time, by group. */
export interface Usage {
  readonly step: 'hour' | 'day'
  /** Those with the most requests first; `''` has no name, `*` is all after the first twenty. */
  readonly groups: readonly { readonly name: string; readonly label: string }[]
  /** `values` stand in the order of `groups`. */
  readonly series: readonly { readonly t: string; readonly values: readonly Measures[] }[]
  readonly totals: Measures
}

/** Which usage. */
export interface UsageQuery {
  readonly from: string
  /** Absent: now. */
  readonly to?: string
  readonly step: 'hour' | 'day'
  /** `model`, `key`, `account` or `tag:<name>`. */
  readonly group: string
  readonly account_id?: string
}

/** Whoever waits for the first call sees it soon; later ones need not be seen that fast. */
const REFRESH_MS = { empty: 2_000, filled: 30_000 }

/** Usage; while the question changes, the last answer stays. */
export function useUsage(query: UsageQuery) {
  return useQuery({
    queryKey: ['/usage', query],
    queryFn: ({ signal }) => get<Usage>('/usage', { ...query }, signal),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => REFRESH_MS[state.data?.totals.requests === 0 ? 'empty' : 'filled'],
  })
}
