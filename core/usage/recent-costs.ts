import { sql } from 'kysely'
import type { Store } from '../store/database.ts'
import { ALL_CALLS, addTotals, TOTALS, type Totals, viewTotals, zeroTotals } from './rollup.ts'
import { stepsOf } from './time-range.ts'
import { usageRows } from './usage-report.ts'

/** What is summed: a key of an account, or the account. */
export interface CostOwner {
  readonly account: string
  /** Absent: all calls of the account. */
  readonly key?: string
}

/** What calls of the last thirty days have cost. */
export interface RecentCost {
  /** US dollars, exactly. Null if no cost is known. */
  readonly usd: string | null
  /** The calls whose cost is unknown: it is not in `usd`. */
  readonly unpriced: number
}

const DAYS_MS = 29 * 86_400_000

/** The costs of some keys or accounts since thirty days, today included and in days of UTC, in their order; for one page of a list. */
export async function recentCosts(store: Store, owners: readonly CostOwner[]): Promise<readonly RecentCost[]> {
  if (owners.length === 0) return []
  const now = Date.now()
  const days = stepsOf({ from: now - DAYS_MS, to: now + 1, step: 'day' })
  // Pairs, in the order of the primary key: the database looks up each owner of each day.
  const wanted = owners.map(({ account, key }) => sql`(${dimensionOf(key)}, ${account}, ${key ?? ''})`)
  const rows = usageRows(store, { step: 'day' }, days)
    .where(sql<boolean>`(dimension, scope, name) in (values ${sql.join(wanted)})`)
    .select(['dimension', 'scope', 'name', ...TOTALS])
  const totals = new Map<string, Totals>()
  for (const row of await store.read(rows)) {
    const id = textOf(row.dimension, row.scope, row.name)
    const sum = totals.get(id) ?? zeroTotals()
    addTotals(sum, row)
    totals.set(id, sum)
  }
  return owners.map(({ account, key }) => {
    const { cost_usd, unpriced } = viewTotals(totals.get(textOf(dimensionOf(key), account, key ?? '')) ?? zeroTotals())
    return { usd: cost_usd, unpriced }
  })
}

const dimensionOf = (key: string | undefined): string => (key === undefined ? ALL_CALLS : 'key')

const textOf = (...parts: readonly string[]): string => parts.join('\0')
