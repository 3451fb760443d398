import { sql } from 'kysely'
import type { Store } from '../store/database.ts'
import { MEASURES, type Measures } from './measures.ts'
import { type Stretch, timesOf } from './stretch.ts'
import { ALL } from './tally.ts'

/** By what calls are added up: `model`, `key`, `account`, or `tag:` and its name. */
export type Dimension = 'model' | 'key' | 'account' | `tag:${string}`

/** Which usage. */
export interface UsageQuery extends Stretch {
  readonly group: Dimension
  /** The account whose usage it is; absent: of all. */
  readonly account?: string | undefined
}

/** What the calls of one hour or day come to that have a name in common. */
export interface UsageSum extends Measures {
  readonly at: number
  readonly dimension: string
  readonly name: string
}

/** More sums than can be put into an order in a moment. */
const MANY = 100_000

/** The names with the most requests, the most first. */
export async function findLeaders(store: Store, query: UsageQuery, most: number): Promise<readonly string[]> {
  const rows = sums(store, query).where('dimension', '=', query.group).select('name')
  const lead = async (some: typeof rows) => {
    const leaders = some.groupBy('name').orderBy(sql`sum(requests)`, 'desc').orderBy('name').limit(most)
    return (await store.read(leaders)).map(({ name }) => name)
  }
  const atMostMany = store.db.selectFrom(rows.limit(MANY + 1).as('some')).select(({ fn }) => fn.countAll<number>().as('count'))
  const [counted] = await store.read(atMostMany)
  if (counted!.count <= MANY) return lead(rows)
  // Most of very many are of names that make a call now and then. Without these it takes a fraction of the time, and nobody is
  // overtaken who leads by a call a step.
  const leaders = await lead(rows.where('requests', '>', 1))
  return leaders.length > 0 ? leaders : lead(rows)
}

/** The sums of these names, and of all calls; those of one moment. */
export async function findSums(store: Store, query: UsageQuery, names: readonly string[]): Promise<readonly UsageSum[]> {
  const rows = sums(store, query).select(['at', 'dimension', 'name', ...MEASURES])
  const all = rows.where('dimension', '=', ALL)
  if (names.length === 0) return store.read(all)
  return store.read(all.unionAll(rows.where('dimension', '=', query.group).where('name', 'in', names)))
}

/** The sums of every name, oldest first, read page by page as they are asked for. Throws `invalid_value`. */
export async function* allSums(store: Store, query: UsageQuery): AsyncGenerator<readonly UsageSum[]> {
  for (const at of timesOf(query)) {
    let after: string | undefined
    do {
      const rows = sums(store, query, [at])
        .where('dimension', '=', query.group)
        .select(['at', 'dimension', 'name', ...MEASURES])
        .orderBy('name')
        .limit(PAGE)
      const page = await store.read(after === undefined ? rows : rows.where('name', '>', after))
      if (page.length > 0) yield page
      after = page.length < PAGE ? undefined : page.at(-1)!.name
    } while (after !== undefined)
  }
}

const PAGE = 500

/** Each hour or day is named: so the database goes straight to its rows. */
function sums(store: Store, query: UsageQuery, times = timesOf(query)) {
  return store.db
    .selectFrom('usage')
    .where('span', '=', query.step)
    .where('at', 'in', times)
    .where('scope', '=', query.account ?? '')
}
