import type { UsageTotals } from '../../api/usage.ts'

/** The metrics that the chart can show. */
export const METRICS: Readonly<Record<keyof UsageTotals, string>> = {
  requests: 'Requests',
  errors: 'Errors',
  input_tokens: 'Input tokens',
  output_tokens: 'Output tokens',
  cached_tokens: 'Cached tokens',
  reasoning_tokens: 'Reasoning tokens',
}

/** The metric of a name in the URL, or the first. */
export const metricOf = (name: string): keyof UsageTotals => (name in METRICS ? (name as keyof UsageTotals) : 'requests')

/** The totals of each group over all steps. */
export function groupTotals(
  count: number,
  series: readonly { readonly values: readonly UsageTotals[] }[],
): readonly UsageTotals[] {
  return Array.from({ length: count }, (_, group) => {
    const sum = { requests: 0, errors: 0, input_tokens: 0, output_tokens: 0, cached_tokens: 0, reasoning_tokens: 0 }
    for (const { values } of series)
      for (const name of Object.keys(sum) as (keyof UsageTotals)[]) sum[name] += values[group]?.[name] ?? 0
    return sum
  })
}
