import { plainEndpoint } from '../protocol/endpoints/plain-endpoints.ts'
import type { CallsTable, UsageTable } from '../store/schema.ts'
import { formatUsd, MAX_NANO_USD } from '../text/money.ts'
import { stepStart } from './time-range.ts'

/** The dimension in which every call counts, under an empty name. */
export const ALL_CALLS = 'all'

/** The scope of all accounts. */
export const ALL_ACCOUNTS = ''

/** The dimension of the names of prices, for calls that cost something or are free. */
export const PRICES = 'price'

/** Outcomes that do not count as errors: a client that leaves meets none. */
const NO_ERROR = new Set(['ok', 'client_closed'])

type RollupKey = Pick<UsageTable, 'span' | 'at' | 'dimension' | 'scope' | 'name'>

/** Calls that count in the same rows: one of them, and their totals. */
interface CallGroup {
  readonly call: CallsTable
  readonly totals: Totals
}

/** The name under which one that the client chose counts in a scope. */
type NameIn = (scope: string, call: CallsTable, dimension: string, name: string) => string

/**
 * The rows that calls add to the totals of their hours and days; lists of models are not counted. The rows are sorted, so that
 * gateways that write at the same time lock them in the same order and cannot deadlock.
 */
export function rollUp(calls: readonly CallsTable[], nameIn: NameIn): UsageTable[] {
  const rows = new Map<string, RollupKey & Totals>()
  for (const { call, totals } of groupsOf(calls)) {
    for (const key of keysOf(call, nameIn)) {
      const text = `${key.span}\0${key.at}\0${key.dimension}\0${key.scope}\0${key.name}`
      const row = rows.get(text)
      if (row === undefined) rows.set(text, { ...key, ...totals })
      else addTotals(row, totals)
    }
  }
  return [...rows].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row)
}

/** Under load most calls of a batch form a few groups; the keys of a group are computed once. */
function groupsOf(calls: readonly CallsTable[]): Iterable<CallGroup> {
  const groups = new Map<string, CallGroup>()
  for (const call of calls) {
    if (plainEndpoint(call.endpoint) !== undefined) continue
    const key = `${stepStart(call.at, 'hour')}\0${call.account_id}\0${call.key_id}\0${modelOf(call)}\0${call.price}\0${call.tags}`
    const group = groups.get(key)
    if (group === undefined) groups.set(key, { call, totals: totalsOf(call) })
    else addTotals(group.totals, totalsOf(call))
  }
  return groups.values()
}

/** The names of a call that its client may have chosen, by their dimensions: its model, and the values of its tags. */
export const chosenNames = (call: CallsTable): { readonly dimension: string; readonly name: string }[] => [
  { dimension: 'model', name: modelOf(call) },
  ...tagsOf(call).map(([tag, name]) => ({ dimension: `tag:${tag}`, name })),
]

const tagsOf = ({ tags }: CallsTable): [tag: string, value: string][] => (tags === '{}' ? [] : Object.entries(JSON.parse(tags)))

/**
 * A call counts in total, for its model, its price and each tag, both in its account and in all accounts; and for its key, in its
 * account.
 */
function keysOf(call: CallsTable, nameIn: NameIn): RollupKey[] {
  const chosen = chosenNames(call)
  const account = call.account_id ?? ALL_ACCOUNTS
  const keys = [{ dimension: 'key', scope: account, name: call.key_id ?? '' }]
  for (const scope of new Set([ALL_ACCOUNTS, account])) {
    keys.push({ dimension: ALL_CALLS, scope, name: '' })
    if (call.price !== null) keys.push({ dimension: PRICES, scope, name: call.price })
    for (const { dimension, name } of chosen) keys.push({ dimension, scope, name: nameIn(scope, call, dimension, name) })
  }
  return keys.flatMap((key): RollupKey[] => [
    { span: 'hour', at: stepStart(call.at, 'hour'), ...key },
    { span: 'day', at: stepStart(call.at, 'day'), ...key },
  ])
}

/** Empty for a model that does not exist: the client wrote its name. */
function modelOf({ model, error }: CallsTable): string {
  return (error === 'model_not_found' ? null : model) ?? ''
}

function totalsOf(call: CallsTable): Totals {
  return {
    requests: 1,
    errors: NO_ERROR.has(call.outcome) ? 0 : 1,
    input_tokens: call.input_tokens ?? 0,
    output_tokens: call.output_tokens ?? 0,
    cached_tokens: call.cached_tokens ?? 0,
    reasoning_tokens: call.reasoning_tokens ?? 0,
    cost: call.cost ?? 0,
    // A call without tokens costs nothing.
    priced: call.cost !== null || call.input_tokens === null ? 1 : 0,
  }
}

/** The columns of the table `usage` that hold totals. */
export const TOTALS = [
  'requests',
  'errors',
  'input_tokens',
  'output_tokens',
  'cached_tokens',
  'reasoning_tokens',
  'cost',
  'priced',
] as const

/** A number for each column of totals. */
export type Totals = { [Column in (typeof TOTALS)[number]]: number }

/** Totals of no calls. */
export function zeroTotals(): Totals {
  return { requests: 0, errors: 0, input_tokens: 0, output_tokens: 0, cached_tokens: 0, reasoning_tokens: 0, cost: 0, priced: 0 }
}

/** Adds `more` to `totals`. */
export function addTotals(totals: Totals, more: Readonly<Totals>): void {
  for (const column of TOTALS) totals[column] += more[column]
  totals.cost = Math.min(totals.cost, MAX_NANO_USD)
}

/** Totals as the management API and the command line show them. */
export interface TotalsView extends Omit<Totals, 'cost' | 'priced'> {
  /** US dollars, exactly: `12.50`, `0.0000375`. Null if no cost is known. */
  readonly cost_usd: string | null
  /** The requests whose cost is unknown: it is not in `cost_usd`. */
  readonly unpriced: number
}

/** The columns of a `TotalsView`. */
export const TOTALS_SHOWN = [
  'requests',
  'errors',
  'input_tokens',
  'output_tokens',
  'cached_tokens',
  'reasoning_tokens',
  'cost_usd',
  'unpriced',
] as const satisfies readonly (keyof TotalsView)[]

/** Converts totals to their view. */
export function viewTotals({ cost, priced, ...counts }: Readonly<Totals>): TotalsView {
  const unpriced = Math.max(counts.requests - priced, 0)
  return { ...counts, cost_usd: cost === 0 && unpriced > 0 ? null : formatUsd(cost), unpriced }
}
