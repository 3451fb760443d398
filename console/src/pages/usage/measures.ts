import type { Measures } from '../../api/usage.ts'

/** What the chart may show. */
export const MEASURES: Readonly<Record<keyof Measures, string>> = {
  requests: 'Requests',
  errors: 'Errors',
  input_tokens: 'Input tokens',
  output_tokens: 'Output tokens',
  cached_tokens: 'Tokens from cache',
  reasoning_tokens: 'Reasoning tokens',
}

/** The name of a measure in the address, or the first. */
export const measureOf = (name: string): keyof Measures => (name in MEASURES ? (name as keyof Measures) : 'requests')

/** The sum of each measure over all steps, per group. */
export function groupTotals(count: number, series: readonly { readonly values: readonly Measures[] }[]): readonly Measures[] {
  return Array.from({ length: count }, (_, group) => {
    const sum = { requests: 0, errors: 0, input_tokens: 0, output_tokens: 0, cached_tokens: 0, reasoning_tokens: 0 }
    for (const { values } of series)
      for (const name of Object.keys(sum) as (keyof Measures)[]) sum[name] += values[group]?.[name] ?? 0
    return sum
  })
}
