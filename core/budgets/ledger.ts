import { sql } from 'kysely'
import type { Ledger } from '../limits/authority.ts'
import { asBudgetCounter, type BudgetCounter, type BudgetOwner, ownerName } from '../limits/budget-counters.ts'
import { boundsOf } from '../limits/window.ts'
import type { Store } from '../store/database.ts'
import { firstRequestId } from '../text/ids.ts'
import { ALL_CALLS } from '../usage/rollup.ts'
import { stepsOf } from '../usage/time-range.ts'

/** Owners of one query: a database limits its parameters. */
const MAX_OWNERS = 100

/** The ledger of budgets: what the rows of calls cost since a time. Other counters have none. */
export function ledgerOf(store: Store): Ledger {
  return async (counter, since) => {
    const budget = asBudgetCounter(counter)
    if (budget === undefined) return null
    return (await spentSince(store, [budget.owner], since)).get(ownerName(budget.owner)) ?? 0
  }
}

/** What was spent of budgets in their current windows, in nano-dollars, as the rows of calls say: all that ended a second ago. */
export async function spentOf(store: Store, counters: readonly BudgetCounter[]): Promise<ReadonlyMap<BudgetCounter, number>> {
  const now = Date.now()
  const byStart = Map.groupBy(counters, ({ window }) => boundsOf(window, now).start)
  const spent = new Map<BudgetCounter, number>()
  for (const [start, same] of byStart) {
    for (let from = 0; from < same.length; from += MAX_OWNERS) {
      const some = same.slice(from, from + MAX_OWNERS)
      const ofOwners = await spentSince(
        store,
        some.map(({ owner }) => owner),
        start,
      )
      for (const counter of some) spent.set(counter, ofOwners.get(ownerName(counter.owner)) ?? 0)
    }
  }
  return spent
}

/** A group of rows of calls: of an account, or of a key in it. */
interface Group {
  readonly owner: BudgetOwner
  readonly scope: string
  /** Of the key; empty for an account. */
  readonly name: string
}

/** By the names of the owners: several counters have one, those of its day and its month. */
async function spentSince(store: Store, all: readonly BudgetOwner[], since: number): Promise<ReadonlyMap<string, number>> {
  const owners = [...new Map(all.map((owner) => [ownerName(owner), owner])).values()]
  const groups = [...owners.filter(({ kind }) => kind === 'account').map(groupOfAccount), ...(await groupsOfKeys(store, owners))]
  const spent = new Map<string, number>()
  for (const { dimension, column, of } of [
    { dimension: ALL_CALLS, column: 'account_id', of: groups.filter(({ name }) => name === '') },
    { dimension: 'key', column: 'key_id', of: groups.filter(({ name }) => name !== '') },
  ] as const) {
    if (of.length === 0) continue
    const sums = [...(await sumsOfUsage(store, dimension, of, since)), ...(await sumsOfCalls(store, column, of, since))]
    for (const { scope, name, cost } of sums) {
      const { owner } = of.find((group) => group.scope === scope && group.name === name)!
      spent.set(ownerName(owner), (spent.get(ownerName(owner)) ?? 0) + cost)
    }
  }
  return spent
}

const groupOfAccount = (owner: BudgetOwner): Group => ({ owner, scope: owner.id, name: '' })

/** The keys of budgets: each with those that replaced it, one after the other. */
async function groupsOfKeys({ db }: Store, owners: readonly BudgetOwner[]): Promise<readonly Group[]> {
  const keys = owners.filter(({ kind }) => kind === 'key')
  if (keys.length === 0) return []
  const ids = [...new Set(keys.map(({ id }) => id))]
  const { rows } = await sql<{ readonly first: string; readonly id: string }>`
    with recursive chain (first, id, replaced_by) as (
      select id, id, replaced_by from keys where id in (${sql.join(ids)})
      union select chain.first, keys.id, keys.replaced_by from keys join chain on keys.id = chain.replaced_by
    )
    select first, id from chain where id <> first
  `.execute(db)
  const successors = Map.groupBy(rows, ({ first }) => first)
  return keys.flatMap((owner) =>
    [{ id: owner.id }, ...(successors.get(owner.id) ?? [])].map(({ id }): Group => ({ owner, scope: owner.account, name: id })),
  )
}

interface Sum {
  readonly scope: string
  readonly name: string
  readonly cost: number
}

const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000

const ceil = (time: number, ms: number): number => Math.ceil(time / ms) * ms

/** Of whole days of UTC, and of the whole hours before them. */
async function sumsOfUsage(store: Store, dimension: string, groups: readonly Group[], since: number): Promise<readonly Sum[]> {
  const now = Date.now()
  const firstDay = ceil(since, DAY_MS)
  const firstHour = ceil(since, HOUR_MS)
  const steps = (step: 'day' | 'hour', from: number, to: number) => (from < to ? stepsOf({ step, from, to }) : [])
  const spans = [
    { span: 'day', at: steps('day', firstDay, now + 1) },
    { span: 'hour', at: steps('hour', firstHour, Math.min(firstDay, now + 1)) },
  ] as const
  const pairs = groups.map(({ scope, name }) => sql`(${scope}, ${name})`)
  const queries = spans
    .filter(({ at }) => at.length > 0)
    .map(({ span, at }) =>
      store.read(
        store.db
          .selectFrom('usage')
          .where('span', '=', span)
          .where('at', 'in', at)
          .where('dimension', '=', dimension)
          .where(sql<boolean>`(scope, name) in (values ${sql.join(pairs)})`)
          .groupBy(['scope', 'name'])
          .select(['scope', 'name', sql<number>`cast(sum(cost) as bigint)`.as('cost')]),
      ),
    )
  return (await Promise.all(queries)).flat()
}

/** Of the first hour, where the window does not begin with it: in some time zones. */
async function sumsOfCalls(
  store: Store,
  column: 'account_id' | 'key_id',
  groups: readonly Group[],
  since: number,
): Promise<readonly Sum[]> {
  const firstHour = ceil(since, HOUR_MS)
  if (firstHour === since) return []
  const idOf = ({ scope, name }: Group): string => (column === 'key_id' ? name : scope)
  const rows = await store.read(
    store.db
      .selectFrom('calls')
      .where(column, 'in', groups.map(idOf))
      .where('id', '>=', firstRequestId(since))
      .where('id', '<', firstRequestId(firstHour))
      .where('cost', 'is not', null)
      .groupBy(column)
      .select([`${column} as id`, sql<number>`cast(sum(cost) as bigint)`.as('cost')]),
  )
  return rows.map(({ id, cost }) => {
    const { scope, name } = groups.find((group) => idOf(group) === id)!
    return { scope, name, cost }
  })
}
