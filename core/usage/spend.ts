import { sql } from 'kysely'
import type { Store } from '../store/database.ts'
import { labelsOf } from './names.ts'
import { ALL_ACCOUNTS, ALL_CALLS, addTotals, TOTALS, type Totals, zeroTotals } from './rollup.ts'
import { stepsOf } from './time-range.ts'
import { type Dimension, groupName, groupRows, sums, usageRows } from './usage-report.ts'

/** What spend is grouped by: a dimension of usage, the price that was applied, or the day. */
export type SpendGroup = Dimension | 'price' | 'day'

/** The days, grouping and account of a report. */
export interface SpendQuery {
  /** Milliseconds since 1970; whole days of UTC are reported. */
  readonly from: number
  /** Exclusive. */
  readonly to: number
  readonly group: SpendGroup
  /** All accounts if absent. */
  readonly account?: string | undefined
}

/** The totals of one group. */
export interface SpendRow {
  /** '' for calls without a value, and `*` for all groups beyond the first ten thousand. */
  readonly name: string
  readonly label: string
  readonly totals: Totals
}

/** What was spent: the rows add up to the totals. */
export interface SpendReport {
  /** By cost, the highest first; by day, in their order. */
  readonly rows: readonly SpendRow[]
  readonly totals: Totals
}

/** Rows of a report. */
const MAX_ROWS = 10_000

/** Days without a range: a month. */
const DEFAULT_MS = 30 * 86_400_000

/** Completes the time range of a query: by default it is the last thirty days. */
export function spendRangeOf({ from, to }: { readonly from?: number | undefined; readonly to?: number | undefined }) {
  const end = to ?? Date.now()
  return { from: from ?? end - DEFAULT_MS, to: end }
}

/** Reports what was spent. Throws `invalid_value` for an invalid time range. */
export function reportSpend(store: Store, query: SpendQuery): Promise<SpendReport> {
  return query.group === 'day' ? reportDays(store, query) : reportGroups(store, query, query.group)
}

async function reportDays(store: Store, query: SpendQuery): Promise<SpendReport> {
  const days = await store.read(
    rowsOfAll(store, query)
      .select(['at', ...TOTALS])
      .orderBy('at'),
  )
  const totals = zeroTotals()
  for (const day of days) addTotals(totals, day)
  const rows = days.map(({ at, ...own }) => {
    const day = new Date(at).toISOString().slice(0, 10)
    return { name: day, label: day, totals: own }
  })
  return { rows, totals }
}

async function reportGroups(store: Store, query: SpendQuery, group: Dimension | 'price'): Promise<SpendReport> {
  const steps = daysOf(query)
  const all = rowsOfAll(store, query).select((row) => [sql<string>`''`.as('scope'), sql<string>`''`.as('name'), ...sums(row)])
  const groups = groupRows(store, { ...query, group, step: 'day' }, steps)
    .select((row) => ['scope', 'name', ...sums(row)])
    .groupBy(['scope', 'name'])
    .orderBy('cost', 'desc')
    .orderBy('requests', 'desc')
    .orderBy('scope')
    .orderBy('name')
    .limit(MAX_ROWS + 1)
  // One query: the totals and the groups are of the same moment.
  const found = await store.read(
    store.db
      .selectFrom(groups.as('groups'))
      .selectAll()
      .select(sql<number>`0`.as('is_all'))
      .unionAll(store.db.selectFrom(all.as('total')).selectAll().select(sql<number>`1`.as('is_all'))),
  )
  const totals = totalsOf(found.find((row) => row.is_all === 1))
  const top = found.filter((row) => row.is_all === 0)
  const names = top.slice(0, MAX_ROWS).map((row) => groupName({ group }, row))
  const labels = await labelsOf(store, group, names)
  const rows = names.map((name, index) => ({ name, label: labels.get(name) ?? name, totals: totalsOf(top[index]) }))
  const others = othersOf(totals, rows)
  if (others.requests > 0)
    rows.push({ ...(top.length > MAX_ROWS ? { name: '*', label: 'all others' } : { name: '', label: 'none' }), totals: others })
  return { rows, totals }
}

const rowsOfAll = (store: Store, query: SpendQuery) =>
  usageRows(store, { step: 'day' }, daysOf(query))
    .where('dimension', '=', ALL_CALLS)
    .where('scope', '=', query.account ?? ALL_ACCOUNTS)

const daysOf = ({ from, to }: SpendQuery): readonly number[] => stepsOf({ from, to, step: 'day' })

/** Sums of no rows are null. */
const totalsOf = (row: Partial<Record<keyof Totals, number | null>> | undefined): Totals =>
  Object.fromEntries(TOTALS.map((column) => [column, row?.[column] ?? 0])) as Totals

/** Never below 0: retention removes some old rows before others. */
function othersOf(totals: Totals, rows: readonly SpendRow[]): Totals {
  const others = { ...totals }
  for (const row of rows) for (const column of TOTALS) others[column] = Math.max(others[column] - row.totals[column], 0)
  return others
}
