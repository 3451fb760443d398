import { sql } from 'kysely'
import type { Store } from '../store/database.ts'
import type { UsageTable } from '../store/schema.ts'
import { labelsOf } from './names.ts'
import { ALL, add, EVERYONE, TOTALS, type Totals, zeroTotals } from './rollup.ts'
import { type Step, type TimeRange, timesOf } from './time-range.ts'

/** By what calls are added up: `model`, `key`, `account`, or `tag:` and its name. */
export type Dimension = 'model' | 'key' | 'account' | `tag:${string}`

/** Which usage. */
export interface UsageQuery extends TimeRange {
  readonly group: Dimension
  /** The account whose usage it is; absent: of all. */
  readonly account?: string | undefined
}

/** Which sums are of one group. */
export type Group = Pick<UsageTable, 'scope' | 'name'>

/** What the calls of a group, or all of them, come to in one hour or day. */
export interface UsageSum extends Group, Totals {
  readonly at: number
}

/** What a group is called: accounts are the scopes of the sums of all calls. */
export const nameOf = ({ group }: UsageQuery, { scope, name }: Group): string => (group === 'account' ? scope : name)

/** More sums than can be put into an order in a moment. */
const MANY = 100_000

/** The groups with the most requests, the most first. */
export async function findLeaders(store: Store, query: UsageQuery, most: number): Promise<readonly Group[]> {
  const rows = sumsOf(store, query).select(['scope', 'name'])
  const lead = (some: typeof rows) =>
    store.read(some.groupBy(['scope', 'name']).orderBy(sql`sum(requests)`, 'desc').orderBy('scope').orderBy('name').limit(most))
  const some = rows.limit(MANY + 1).as('some')
  const [counted] = await store.read(store.db.selectFrom(some).select(({ fn }) => fn.countAll<number>().as('count')))
  if (counted!.count <= MANY) return lead(rows)
  // Most of very many are of names that make a call now and then. Without these it takes a fraction of the time, and nobody is
  // overtaken who leads by a call a step.
  const leaders = await lead(rows.where('requests', '>', 1))
  return leaders.length > 0 ? leaders : lead(rows)
}

/** The sums of these groups, and those of all calls; those of one moment. */
export async function findSums(
  store: Store,
  query: UsageQuery,
  groups: readonly Group[],
): Promise<{ readonly all: readonly UsageSum[]; readonly ofGroups: readonly UsageSum[] }> {
  const columns = ['at', 'scope', 'name', ...TOTALS] as const
  const all = usage(store, query, timesOf(query))
    .where('dimension', '=', ALL)
    .where('scope', '=', query.account ?? EVERYONE)
    .select([...columns, sql<number>`1`.as('is_all')])
  const ofGroups = sumsOf(store, query)
    .where(isOneOf(groups))
    .select([...columns, sql<number>`0`.as('is_all')])
  const rows = await store.read(groups.length === 0 ? all : all.unionAll(ofGroups))
  return { all: rows.filter((row) => row.is_all === 1), ofGroups: rows.filter((row) => row.is_all === 0) }
}

/** As pairs: of each scope with each name, most would be looked for in vain. */
function isOneOf(groups: readonly Group[]) {
  const pairs = groups.map(({ scope, name }) => sql`(${scope}, ${name})`)
  return sql<boolean>`(scope, name) in (values ${sql.join(pairs)})`
}

/** The sums of every group, oldest first, read page by page as they are asked for. Throws `invalid_value`. */
export async function* allSums(store: Store, query: UsageQuery): AsyncGenerator<readonly UsageSum[]> {
  for (const at of timesOf(query)) {
    let after: Group | undefined
    do {
      const rows = sumsOf(store, query, [at])
        .select(['at', 'scope', 'name', ...TOTALS])
        .orderBy('scope')
        .orderBy('name')
        .limit(PAGE)
      const page = await store.read(after === undefined ? rows : rows.where(isAfter(after)))
      if (page.length > 0) yield page
      after = page.length < PAGE ? undefined : page.at(-1)!
    } while (after !== undefined)
  }
}

const PAGE = 500

const isAfter = ({ scope, name }: Group) => sql<boolean>`(scope, name) > (${scope}, ${name})`

/** The sums of every group. */
function sumsOf(store: Store, query: UsageQuery, times = timesOf(query)) {
  const { group, account } = query
  const rows = usage(store, query, times).where('dimension', '=', group === 'account' ? ALL : group)
  if (account !== undefined) return rows.where('scope', '=', account)
  if (group === 'account') return rows.where('scope', '<>', EVERYONE)
  // Of a key there are no sums but those of its account.
  return group === 'key' ? rows : rows.where('scope', '=', EVERYONE)
}

/** Each hour or day is named: so the database goes straight to its rows. */
function usage(store: Store, { step }: UsageQuery, times: readonly number[]) {
  return store.db.selectFrom('usage').where('span', '=', step).where('at', 'in', times)
}

/** Usage over time, by group. */
export interface UsageReport {
  readonly step: Step
  /** Those with the most requests first. What has no name is called '', and all after the first twenty `*`. */
  readonly groups: readonly { readonly name: string; readonly label: string }[]
  /** An entry for each hour or day, its values in the order of the groups. */
  readonly series: readonly { readonly t: string; readonly values: readonly Totals[] }[]
  readonly totals: Totals
}

/** Groups that stand for themselves; more would be no chart. */
const MOST_GROUPS = 20

/** One hour or day. */
interface Moment {
  readonly all: Totals
  /** Of each group. */
  readonly values: Totals[]
}

/** Adds usage up. Throws `invalid_value`. */
export async function reportUsage(store: Store, query: UsageQuery): Promise<UsageReport> {
  const leaders = await findLeaders(store, query, MOST_GROUPS + 1)
  const shown = leaders.slice(0, MOST_GROUPS)
  const { all, ofGroups } = await findSums(store, query, shown)
  const names = shown.map((group) => nameOf(query, group))
  const moments = new Map(timesOf(query).map((at) => [at, { all: zeroTotals(), values: names.map(zeroTotals) }]))
  const totals = zeroTotals()
  for (const sum of all) {
    add(moments.get(sum.at)!.all, sum)
    add(totals, sum)
  }
  const places = new Map(names.map((name, place) => [name, place]))
  for (const sum of ofGroups) add(moments.get(sum.at)!.values[places.get(nameOf(query, sum))!]!, sum)
  const labels = await labelsOf(store, query.group, names)
  const groups = names.map((name) => ({ name, label: labels.get(name) ?? name }))
  if (addRest(moments))
    groups.push(leaders.length > names.length ? { name: '*', label: 'all others' } : { name: '', label: 'none' })
  const series = [...moments].map(([at, { values }]) => ({ t: new Date(at).toISOString(), values }))
  return { step: query.step, groups, series, totals }
}

/** Adds one more group: what no other accounts for, calls without such a tag, or of the many names after the first. False: there is none. */
function addRest(moments: ReadonlyMap<number, Moment>): boolean {
  const rests = [...moments.values()].map((moment) => ({ moment, rest: restOf(moment) }))
  if (rests.every(({ rest }) => rest.requests === 0)) return false
  for (const { moment, rest } of rests) moment.values.push(rest)
  return true
}

/** Never less than nothing: of old sums, some are removed before others. */
function restOf({ all, values }: Moment): Totals {
  const rest = { ...all }
  for (const value of values) for (const measure of TOTALS) rest[measure] = Math.max(rest[measure] - value[measure], 0)
  return rest
}
