import { type ExpressionBuilder, sql } from 'kysely'
import type { Store } from '../store/database.ts'
import type { Schema, UsageTable } from '../store/schema.ts'
import { MAX_NANO_USD } from '../text/money.ts'
import { labelsOf } from './names.ts'
import { ALL_ACCOUNTS, ALL_CALLS, addTotals, TOTALS, type Totals, zeroTotals } from './rollup.ts'
import { type CountedSteps, countedSteps, type Step, type TimeRange } from './time-range.ts'

/** What usage is grouped by: `model`, `key`, `account`, or `tag:` and the tag's name. */
export type Dimension = 'model' | 'key' | 'account' | `tag:${string}`

/** The time range, grouping and account of a report. */
export interface UsageQuery extends TimeRange {
  readonly group: Dimension
  /** The account whose usage is reported; all accounts if absent. */
  readonly account?: string | undefined
}

/** What `groupRows` reads. */
export interface GroupQuery extends Pick<UsageQuery, 'step' | 'account'> {
  /** A dimension of the table `usage`, or `account`. */
  readonly group: string
}

/** Usage over time, by group. */
export interface UsageReport {
  readonly step: Step
  /** By requests, descending. The name is '' for calls without a value, and `*` for all groups after the first twenty. */
  readonly groups: readonly { readonly name: string; readonly label: string }[]
  /** One entry for each hour or day; its values are in the order of the groups. */
  readonly series: readonly { readonly t: string; readonly values: readonly Totals[] }[]
  readonly totals: Totals
}

/** Groups in a report, without the group of all others: a chart shows no more. */
const MAX_GROUPS = 20

/** The totals of one hour or day. */
interface StepTotals {
  readonly all: Totals
  /** In the order of the groups. */
  readonly values: Totals[]
}

/** Reports usage. Throws `invalid_value` for an invalid time range. */
export async function reportUsage(store: Store, query: UsageQuery): Promise<UsageReport> {
  const counted = countedSteps(query)
  const topGroups = await findTopGroups(store, query, counted, MAX_GROUPS + 1)
  const shown = topGroups.slice(0, MAX_GROUPS)
  const { all, ofGroups } = await findTotals(store, query, counted, shown)
  const names = shown.map((group) => groupName(query, group))
  const steps = new Map(counted.starts.map((at) => [at, { all: zeroTotals(), values: names.map(zeroTotals) }]))
  const stepOf = ({ at }: GroupTotals) => steps.get(counted.startOf.get(at)!)!
  const totals = zeroTotals()
  for (const row of all) {
    addTotals(stepOf(row).all, row)
    addTotals(totals, row)
  }
  const indexes = new Map(names.map((name, index) => [name, index]))
  for (const row of ofGroups) addTotals(stepOf(row).values[indexes.get(groupName(query, row))!]!, row)
  const labels = await labelsOf(store, query.group, names)
  const groups = names.map((name) => ({ name, label: labels.get(name) ?? name }))
  if (addOthers(steps))
    groups.push(topGroups.length > names.length ? { name: '*', label: 'all others' } : { name: '', label: 'none' })
  const series = [...steps].map(([at, { values }]) => ({ t: new Date(at).toISOString(), values }))
  return { step: query.step, groups, series, totals }
}

/** Adds the group of all other calls: those without the tag, or of groups after the first twenty. Returns false if there are none. */
function addOthers(steps: ReadonlyMap<number, StepTotals>): boolean {
  const others = [...steps.values()].map((step) => ({ step, totals: othersOf(step) }))
  if (others.every(({ totals }) => totals.requests === 0)) return false
  for (const { step, totals } of others) step.values.push(totals)
  return true
}

/** Never below 0: retention removes some old rows before others. */
function othersOf({ all, values }: StepTotals): Totals {
  const others = { ...all }
  for (const value of values) for (const column of TOTALS) others[column] = Math.max(others[column] - value[column], 0)
  return others
}

/** The key of the rows of one group. */
type Group = Pick<UsageTable, 'scope' | 'name'>

/** The totals of a group, or of all calls, in one hour or day. */
interface GroupTotals extends Group, Totals {
  readonly at: number
}

/** The name of a group: grouped by account, its scope. */
export const groupName = ({ group }: { readonly group: string }, { scope, name }: Group): string =>
  group === 'account' ? scope : name

/** Sorting more rows takes too long. */
const MAX_SORTED = 100_000

/** The groups with the most requests, in descending order. */
async function findTopGroups(store: Store, query: UsageQuery, counted: CountedSteps, count: number): Promise<readonly Group[]> {
  const rows = rowsOfGroups(store, query, counted).select(['scope', 'name'])
  const topOf = (some: typeof rows) =>
    store.read(some.groupBy(['scope', 'name']).orderBy(sql`sum(requests)`, 'desc').orderBy('scope').orderBy('name').limit(count))
  const some = rows.limit(MAX_SORTED + 1).as('some')
  const [found] = await store.read(store.db.selectFrom(some).select(({ fn }) => fn.countAll<number>().as('count')))
  if (found!.count <= MAX_SORTED) return topOf(rows)
  // Most rows of very many have a single request. Without them the query takes a fraction of the time, and a group with more than one
  // request in a step keeps its rank.
  const top = await topOf(rows.where('requests', '>', 1))
  return top.length > 0 ? top : topOf(rows)
}

/** The totals of these groups, and of all calls, by one query: both are of the same moment. */
async function findTotals(
  store: Store,
  query: UsageQuery,
  counted: CountedSteps,
  groups: readonly Group[],
): Promise<{ readonly all: readonly GroupTotals[]; readonly ofGroups: readonly GroupTotals[] }> {
  const columns = ['at', 'scope', 'name', ...TOTALS] as const
  const all = usageRows(store, counted, [...counted.startOf.keys()])
    .where('dimension', '=', ALL_CALLS)
    .where('scope', '=', query.account ?? ALL_ACCOUNTS)
    .select([...columns, sql<number>`1`.as('is_all')])
  const ofGroups = rowsOfGroups(store, query, counted)
    .where(isOneOf(groups))
    .select([...columns, sql<number>`0`.as('is_all')])
  const rows = await store.read(groups.length === 0 ? all : all.unionAll(ofGroups))
  return { all: rows.filter((row) => row.is_all === 1), ofGroups: rows.filter((row) => row.is_all === 0) }
}

/** Compares pairs: two lists would make the database look up every scope with every name. */
function isOneOf(groups: readonly Group[]) {
  const pairs = groups.map(({ scope, name }) => sql`(${scope}, ${name})`)
  return sql<boolean>`(scope, name) in (values ${sql.join(pairs)})`
}

/** The sums of each column. A larger sum than a number can hold could not be read. */
export function sums(_row: ExpressionBuilder<Schema, 'usage'>) {
  return TOTALS.map((column) =>
    sql<number>`cast(case when sum(${sql.ref(column)}) > ${MOST} then ${MOST} else sum(${sql.ref(column)}) end as bigint)`.as(
      column,
    ),
  )
}

const MOST = sql.lit(MAX_NANO_USD)

/** The rows of every group in the steps of a report. */
const rowsOfGroups = (store: Store, { group, account }: UsageQuery, { step, startOf }: CountedSteps) =>
  groupRows(store, { group, account, step }, [...startOf.keys()])

const PAGE = 500

/** The totals of every group, oldest first; the next page is read when the consumer asks for it. Throws `invalid_value`. */
export async function* allTotals(store: Store, query: UsageQuery): AsyncGenerator<readonly GroupTotals[]> {
  const { step, starts, startOf } = countedSteps(query)
  for (const at of starts) {
    const rowsOfStep = [...startOf].flatMap(([row, start]) => (start === at ? [row] : []))
    let after: Group | undefined
    do {
      const rows = groupRows(store, { ...query, step }, rowsOfStep)
        .select((row) => ['scope', 'name', ...sums(row)])
        .groupBy(['scope', 'name'])
        .orderBy('scope')
        .orderBy('name')
        .limit(PAGE)
      const page = await store.read(after === undefined ? rows : rows.where(isAfter(after)))
      if (page.length > 0) yield page.map((row) => ({ at, ...row }))
      after = page.length < PAGE ? undefined : page.at(-1)!
    } while (after !== undefined)
  }
}

const isAfter = ({ scope, name }: Group) => sql<boolean>`(scope, name) > (${scope}, ${name})`

/** The rows of every group. `steps`: the hours or days. */
export function groupRows(store: Store, query: GroupQuery, steps: readonly number[]) {
  const { group, account } = query
  const rows = usageRows(store, query, steps).where('dimension', '=', group === 'account' ? ALL_CALLS : group)
  if (account !== undefined) return rows.where('scope', '=', account)
  if (group === 'account') return rows.where('scope', '<>', ALL_ACCOUNTS)
  // A key has rows in the scope of its account only.
  return group === 'key' ? rows : rows.where('scope', '=', ALL_ACCOUNTS)
}

/** Lists each hour or day, so that the database finds their rows by the primary key. */
export function usageRows(store: Store, { step }: Pick<TimeRange, 'step'>, steps: readonly number[]) {
  return store.db.selectFrom('usage').where('span', '=', step).where('at', 'in', steps)
}
