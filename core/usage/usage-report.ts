import type { Store } from '../store/database.ts'
import { add, MEASURES, type Measures, noMeasures } from './measures.ts'
import { labelsOf } from './names.ts'
import { type Step, timesOf } from './stretch.ts'
import { findLeaders, findSums, nameOf, type UsageQuery } from './usage-query.ts'

/** Usage over time, by group. */
export interface UsageReport {
  readonly step: Step
  /** Those with the most requests first. What has no name is called '', and all after the first twenty `*`. */
  readonly groups: readonly { readonly name: string; readonly label: string }[]
  /** An entry for each hour or day, its values in the order of the groups. */
  readonly series: readonly { readonly t: string; readonly values: readonly Measures[] }[]
  readonly totals: Measures
}

/** Groups that stand for themselves; more would be no chart. */
const MOST_GROUPS = 20

/** One hour or day. */
interface Moment {
  readonly all: Measures
  /** Of each group. */
  readonly values: Measures[]
}

/** Adds usage up. Throws `invalid_value`. */
export async function reportUsage(store: Store, query: UsageQuery): Promise<UsageReport> {
  const leaders = await findLeaders(store, query, MOST_GROUPS + 1)
  const shown = leaders.slice(0, MOST_GROUPS)
  const { all, ofGroups } = await findSums(store, query, shown)
  const names = shown.map((group) => nameOf(query, group))
  const moments = new Map(timesOf(query).map((at) => [at, { all: noMeasures(), values: names.map(noMeasures) }]))
  const totals = noMeasures()
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
function restOf({ all, values }: Moment): Measures {
  const rest = { ...all }
  for (const value of values) for (const measure of MEASURES) rest[measure] = Math.max(rest[measure] - value[measure], 0)
  return rest
}
