import { usageAsCsv, usageAsJsonLines } from '../usage/exports.ts'
import { addTotals, TOTALS, type Totals, zeroTotals } from '../usage/rollup.ts'
import { type TimeRange, timeRangeOf } from '../usage/time-range.ts'
import { type Dimension, reportUsage, type UsageReport } from '../usage/usage-report.ts'
import { writeAll } from './requests.ts'
import { type StoreIo, type StoreOptions, withStore, writeTable } from './store.ts'

/** What `umg usage` takes. */
export interface UsageOptions extends StoreOptions, Partial<TimeRange> {
  readonly group: Dimension
  readonly account?: string
  readonly format: 'table' | 'csv' | 'jsonl'
}

/** `umg usage`: sums of the whole time as a table, or those of each hour or day as a file. Resolves to the exit code. */
export async function usageCommand(options: UsageOptions, io: StoreIo): Promise<number> {
  const { format, group, account } = options
  const query = { ...timeRangeOf(options), group, account }
  return withStore(options, io, async (store) => {
    if (format === 'csv') return writeAll(io, usageAsCsv(store, query))
    if (format === 'jsonl') return writeAll(io, usageAsJsonLines(store, query))
    writeTable(io, tableOf(group, await reportUsage(store, query)))
  })
}

function tableOf(group: Dimension, { groups, series, totals }: UsageReport): string[][] {
  const sums = groups.map(zeroTotals)
  for (const { values } of series) for (const [place, value] of values.entries()) addTotals(sums[place]!, value)
  const headings = [group.replace(/^tag:/, ''), ...TOTALS].map((heading) => heading.replace('_', ' ').toUpperCase())
  return [headings, ...groups.map(({ label }, place) => row(label, sums[place]!)), row('TOTAL', totals)]
}

const row = (label: string, sum: Totals): string[] => [label, ...TOTALS.map((measure) => String(sum[measure]))]
