import type { UsageTotals } from '../../api/usage.ts'
import { dollars } from '../../ui/money.ts'
import { exactly, roughly } from '../../ui/numbers.ts'

/** The metrics that the chart can show. */
export const METRICS: Readonly<Record<keyof UsageTotals, string>> = {
  requests: 'Requests',
  errors: 'Errors',
  input_tokens: 'Input tokens',
  output_tokens: 'Output tokens',
  cached_tokens: 'Cached tokens',
  reasoning_tokens: 'Reasoning tokens',
  cost_usd: 'Cost in USD',
  saved_usd: 'Saved by caches in USD',
  unpriced: 'Requests of unknown cost',
}

/** The name of a metric. */
export type Metric = keyof UsageTotals

/** The metric of a name in the URL, or the first. */
export const metricOf = (name: string): Metric => (name in METRICS ? (name as Metric) : 'requests')

/** The value of a metric, for the chart: an unknown cost has no height. */
export const amountOf = (totals: UsageTotals | undefined, metric: Metric): number => Number(totals?.[metric] ?? 0)

/** How the chart shows the values of a metric. */
export interface MetricFormat {
  /** In full. */
  exactly(value: number): string
  /** At the axis; empty for a value that it cannot show. */
  atAxis(value: number): string
  /** The least height of the axis. */
  readonly floor: number
}

/** How the chart shows the values of a metric. */
export const formatOf = (metric: Metric): MetricFormat => (metric === 'cost_usd' || metric === 'saved_usd' ? MONEY : COUNTS)

const MONEY: MetricFormat = { exactly: dollars, atAxis: dollars, floor: 0.0001 }
const COUNTS: MetricFormat = { exactly, atAxis: (value) => (Number.isInteger(value) ? roughly(value) : ''), floor: 1 }

/** The totals of a group, its amounts as numbers. */
export interface GroupTotals extends Omit<UsageTotals, 'cost_usd' | 'saved_usd'> {
  readonly cost_usd: number | null
  readonly saved_usd: number | null
}

/** The totals of each group over all steps. */
export function groupTotals(
  count: number,
  series: readonly { readonly values: readonly UsageTotals[] }[],
): readonly GroupTotals[] {
  return Array.from({ length: count }, (_, group) => {
    const sumOf = (metric: Metric) => series.reduce((sum, { values }) => sum + amountOf(values[group], metric), 0)
    const cost = sumOf('cost_usd')
    const unpriced = sumOf('unpriced')
    const isUnknown = cost === 0 && unpriced > 0
    return {
      requests: sumOf('requests'),
      errors: sumOf('errors'),
      input_tokens: sumOf('input_tokens'),
      output_tokens: sumOf('output_tokens'),
      cached_tokens: sumOf('cached_tokens'),
      reasoning_tokens: sumOf('reasoning_tokens'),
      cost_usd: isUnknown ? null : cost,
      saved_usd: isUnknown ? null : sumOf('saved_usd'),
      unpriced,
    }
  })
}
