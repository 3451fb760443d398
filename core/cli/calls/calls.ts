import { GatewayError } from '../../errors.ts'
import type { Served } from '../../sdk/api.ts'
import type { Store } from '../../store/database.ts'
import type { CallsTable } from '../../store/schema.ts'
import { type CallFilter, type CallView, findCall, findCalls, viewCalls } from '../../usage/calls.ts'
import { callsAsCsv, callsAsJsonLines, usageAsCsv, usageAsJsonLines } from '../../usage/exports.ts'
import { addTotals, zeroTotals } from '../../usage/rollup.ts'
import { type TimeRange, timeRangeOf } from '../../usage/time-range.ts'
import { type Dimension, reportUsage, type UsageReport } from '../../usage/usage-report.ts'
import { type CommandIo, type TableFormat, writeCells, writeChunks, writeJson, writeTable } from '../output.ts'
import { type ObjectOptions, type StoreOptions, withStore } from '../store.ts'
import { type GroupTotals, writeTotals } from './totals.ts'

/** The options of `umg requests list`. */
export interface ListRequestsOptions extends StoreOptions, CallFilter {
  /** The beginning of the ids, or their last characters. */
  readonly id?: string
  /** Absent: a table, or JSON. */
  readonly format?: 'csv' | 'jsonl'
  /** The number of rows. Exports have no limit. */
  readonly limit: number
}

/** The options of `umg usage`. */
export interface UsageOptions extends StoreOptions, Partial<TimeRange> {
  readonly group: Dimension
  readonly account?: string
  /** Absent: a table, or JSON. */
  readonly format?: 'csv' | 'jsonl'
}

/** `umg requests list`, the newest first. Resolves to the exit code. */
export async function listRequestsCommand(
  { id: q, format, limit, ...options }: ListRequestsOptions,
  io: CommandIo,
): Promise<number> {
  return withStore(options, io, async (store) => {
    const filter = { ...options, q }
    if (format === 'csv') return writeChunks(callsAsCsv(store, filter), io)
    if (format === 'jsonl') return writeChunks(callsAsJsonLines(store, filter), io)
    const calls = await viewCalls(store, await findCalls(store, filter, { limit }))
    if (options.json) writeJson(calls, io)
    else writeTable(calls, CALLS, io)
  })
}

/** `umg requests show ID`. Resolves to the exit code. */
export async function showRequestCommand({ id, ...options }: ObjectOptions, io: CommandIo): Promise<number> {
  return withStore(options, io, async (store) => {
    const [call] = await viewCalls(store, [await findOne(store, id)])
    if (options.json) writeJson(call, io)
    else writeCells(propertiesOf(call!), io)
  })
}

/** `umg usage`: totals of the whole time range as a table or JSON, or of each hour or day as CSV or JSON lines. Resolves to the exit code. */
export async function usageCommand(options: UsageOptions, io: CommandIo): Promise<number> {
  const { format, group, account } = options
  const query = { ...timeRangeOf(options), group, account }
  return withStore(options, io, async (store) => {
    if (format === 'csv') return writeChunks(usageAsCsv(store, query), io)
    if (format === 'jsonl') return writeChunks(usageAsJsonLines(store, query), io)
    writeTotals(group, sumsOf(await reportUsage(store, query)), options, io)
  })
}

/** Finds a call by its id, or by its first or last characters if no other id has the same. */
async function findOne(store: Store, id: string): Promise<CallsTable> {
  const exact = await findCall(store, id)
  if (exact !== undefined) return exact
  const [first, second] = await findCalls(store, { q: id }, { limit: 2 })
  if (first === undefined) throw new GatewayError('object_not_found', { values: { what: 'request' } })
  if (second === undefined) return first
  throw new GatewayError('invalid_value', { param: 'id', values: { detail: 'several requests have ids like this' } })
}

const CALLS: TableFormat<CallView> = {
  columns: {
    ID: ({ id }) => id,
    AT: ({ at }) => at,
    KEY: ({ key }) => key?.name ?? '-',
    MODEL: ({ model }) => model ?? '-',
    STATUS: ({ status }) => String(status),
    OUTCOME: ({ outcome }) => outcome,
    FAULT: ({ fault }) => fault ?? '-',
    MS: ({ ms }) => String(Math.round(ms.total)),
    TOKENS: ({ tokens }) => (tokens === null ? '-' : `${tokens.input}+${tokens.output}`),
  },
  empty: 'No requests match. A request is listed a second after its end.',
}

/** All properties of a call, one a line. */
function propertiesOf(call: CallView): [name: string, text: string][] {
  const { key, account, served, error, ms, tokens, cost, tags } = call
  return [
    ['id', call.id],
    ['at', call.at],
    ['key', key === null ? '-' : `${key.name} (${key.id})`],
    ['account', account === null ? '-' : `${account.name} (${account.id})`],
    ['endpoint', call.stream ? `${call.endpoint}, streamed` : call.endpoint],
    ['model', call.alias === null ? (call.model ?? '-') : `${call.alias} (an alias of ${call.model})`],
    ['served by', served === null ? '-' : `${served.namespace}/${served.model} (${served.provider}${formatCredential(served)})`],
    ['status', `${call.status}, ${call.outcome}`],
    ['fault', call.fault ?? '-'],
    ['error', error === null ? '-' : error.row],
    ...call.links.map(({ name, ms: took, answered }, index): [string, string] => [
      `link ${index + 1}`,
      `${name}: ${took} ms${answered ? ', answered the call' : ''}`,
    ]),
    ...call.attempts.map(({ result, ms: took, ...target }, index): [string, string] => [
      `attempt ${index + 1}`,
      `${target.namespace}/${target.model}: ${result}, ${took} ms${formatCredential(target)}`,
    ]),
    ['time', `${ms.total} ms, ${ms.overhead} ms of it in the gateway`],
    ['first byte', ms.first_byte === null ? '-' : `after ${ms.first_byte} ms`],
    ['tokens', tokens === null ? '-' : formatTokens(tokens)],
    [
      'cost',
      cost === null
        ? tokens === null
          ? '-'
          : 'unknown: its model has no price'
        : `${cost.usd} USD${savedOf(cost)}, by ${cost.price}`,
    ],
    ['trace', call.trace_id ?? '-'],
    ...Object.entries(tags).map(([tag, value]): [string, string] => [`tag ${tag}`, value]),
  ]
}

/** Nothing is said of a call that has used no cache. */
const savedOf = ({ saved_usd }: NonNullable<CallView['cost']>): string =>
  saved_usd === null || Number(saved_usd) === 0 ? '' : ` (${saved_usd} USD saved by the upstream's cache)`

function formatTokens({ input, output, cached, reasoning, estimated }: NonNullable<CallView['tokens']>): string {
  return `${input} in (${cached} cached), ${output} out (${reasoning} reasoning)${estimated ? ', estimated' : ''}`
}

function sumsOf({ groups, series, totals }: UsageReport): GroupTotals {
  const sums = groups.map(zeroTotals)
  for (const { values } of series) for (const [index, value] of values.entries()) addTotals(sums[index]!, value)
  return { rows: groups.map(({ label }, index) => ({ label, totals: sums[index]! })), totals }
}

const formatCredential = ({ credential }: Served): string => (credential === undefined ? '' : `, credential ${credential}`)
