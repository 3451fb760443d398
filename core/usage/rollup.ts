import type { CallsTable, UsageTable } from '../store/schema.ts'
import { startOf } from './time-range.ts'

/** The dimension in which every call counts, under one name. */
export const ALL = 'all'

/** The scope of all accounts. */
export const EVERYONE = ''

/** Who leaves, and who is answered, met no error. */
const NO_ERROR = new Set(['ok', 'client_closed'])

type Place = Pick<UsageTable, 'span' | 'at' | 'dimension' | 'scope' | 'name'>

/** Calls that count in the same places, and what they come to. */
interface Kind {
  readonly like: CallsTable
  readonly sums: Totals
}

/**
 * What calls add to the sums of their hours and days. Lists of models are no usage. The rows come in one order, so that gateways which
 * write at the same time wait for each other and not in a circle.
 */
export function rollUp(calls: readonly CallsTable[]): UsageTable[] {
  const rows = new Map<string, Place & Totals>()
  for (const { like, sums } of kindsOf(calls)) {
    for (const place of placesOf(like)) {
      const key = `${place.span}\0${place.at}\0${place.dimension}\0${place.scope}\0${place.name}`
      const row = rows.get(key)
      if (row === undefined) rows.set(key, { ...place, ...sums })
      else add(row, sums)
    }
  }
  return [...rows].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row)
}

/** Under load most calls of a batch are of a few kinds: what they have in common is worked out once. */
function kindsOf(calls: readonly CallsTable[]): Iterable<Kind> {
  const kinds = new Map<string, Kind>()
  for (const call of calls) {
    if (call.endpoint === 'models') continue
    const key = `${startOf(call.at, 'hour')}\0${call.account_id}\0${call.key_id}\0${modelOf(call)}\0${call.tags}`
    const kind = kinds.get(key)
    if (kind === undefined) kinds.set(key, { like: call, sums: sumsOf(call) })
    else add(kind.sums, sumsOf(call))
  }
  return kinds.values()
}

/** Each call counts for itself, its model and each of its tags, for its account and for all; and for its key, which is of one account. */
function placesOf(call: CallsTable): Place[] {
  const tags = Object.entries(JSON.parse(call.tags) as Record<string, string>)
  const own = call.account_id ?? EVERYONE
  const scopes = new Set([EVERYONE, own])
  const places = [{ dimension: 'key', scope: own, name: call.key_id ?? '' }]
  for (const scope of scopes) {
    places.push({ dimension: ALL, scope, name: '' }, { dimension: 'model', scope, name: modelOf(call) })
    for (const [tag, name] of tags) places.push({ dimension: `tag:${tag}`, scope, name })
  }
  return places.flatMap((place): Place[] => [
    { span: 'hour', at: startOf(call.at, 'hour'), ...place },
    { span: 'day', at: startOf(call.at, 'day'), ...place },
  ])
}

/** A model that does not exist is whatever the client wrote. */
function modelOf({ model, error }: CallsTable): string {
  return (error === 'model_not_found' ? null : model) ?? ''
}

function sumsOf(call: CallsTable): Totals {
  return {
    requests: 1,
    errors: NO_ERROR.has(call.outcome) ? 0 : 1,
    input_tokens: call.input_tokens ?? 0,
    output_tokens: call.output_tokens ?? 0,
    cached_tokens: call.cached_tokens ?? 0,
    reasoning_tokens: call.reasoning_tokens ?? 0,
  }
}

/** What is added up of calls: columns of the table `usage`. */
export const TOTALS = ['requests', 'errors', 'input_tokens', 'output_tokens', 'cached_tokens', 'reasoning_tokens'] as const

/** One number of each. */
export type Totals = { [Measure in (typeof TOTALS)[number]]: number }

/** Nothing yet. */
export function zeroTotals(): Totals {
  return { requests: 0, errors: 0, input_tokens: 0, output_tokens: 0, cached_tokens: 0, reasoning_tokens: 0 }
}

/** Adds to a sum. */
export function add(sum: Totals, more: Readonly<Totals>): void {
  for (const measure of TOTALS) sum[measure] += more[measure]
}
