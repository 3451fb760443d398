import { type SelectQueryBuilder, sql } from 'kysely'
import { ERRORS, type ErrorName, type Fault } from '../error-table.ts'
import type { AttemptRecord, LinkRecord, Served } from '../sdk/api.ts'
import type { Store } from '../store/database.ts'
import type { CallsTable, Schema } from '../store/schema.ts'
import { firstRequestId } from '../text/ids.ts'
import { formatUsd } from '../text/money.ts'
import { type Named, named, namesOf } from './names.ts'

/** A filter of calls. Absent fields match every call. */
export interface CallFilter {
  readonly account?: string
  /** Milliseconds since 1970; `to` is exclusive. */
  readonly from?: number
  readonly to?: number
  /**
   * The first characters of the id, with or without `req_`, or at least four of the last. Ids that end in it are not searched for if it begins
   * with `req_`, or is eight or more characters that begin an id.
   */
  readonly q?: string
  /** The id of a model, or an alias without a slash. */
  readonly model?: string
  readonly key?: string
  readonly status?: number
  readonly fault?: string
}

/** Greater than every character of an id. */
const AFTER_ALL = '~'

/** A page of calls. `before`: the last id of the previous page; calls that are added between two pages change neither. */
export interface CallPage {
  readonly limit: number
  readonly before?: string
}

/** Reads calls, newest first. */
export async function findCalls(store: Store, filter: CallFilter, page: CallPage): Promise<readonly CallsTable[]> {
  const calls = filtered(store, filter, page)
  if (filter.q === undefined) return store.read(calls)
  // The console shows `req_…41c2a8f3`.
  const text = filter.q.replace(/^req_…?|^…/, '')
  const isBeginning = /^req_(?!…)/.test(filter.q)
  const begin = await store.read(calls.where('id', '>=', `req_${text}`).where('id', '<', `req_${text}${AFTER_ALL}`))
  if (isBeginning || !LAST_CHARACTERS.test(text) || (begin.length > 0 && text.length >= ENOUGH)) return begin
  const ending = await idsEndingIn(store, text, filter.account)
  if (ending.length === 0) return begin
  // Not one query with `or`: it would sort all calls of the first range.
  const end = await store.read(calls.where('id', 'in', ending))
  const found = new Map([...begin, ...end].map((call) => [call.id, call]))
  return Array.from(found.values()).sort(newestFirst).slice(0, page.limit)
}

const newestFirst = (one: CallsTable, other: CallsTable): number => (one.id < other.id ? 1 : -1)

/** Reads one call by its complete id. */
export async function findCall(store: Store, id: string): Promise<CallsTable | undefined> {
  const [call] = await store.read(store.db.selectFrom('calls').selectAll().where('id', '=', id))
  return call
}

/** All calls of a filter, newest first; the next page is read when the consumer asks for it. */
export async function* allCalls(store: Store, filter: CallFilter): AsyncGenerator<readonly CallsTable[]> {
  let before: string | undefined
  do {
    const page = await findCalls(store, filter, { limit: PAGE, ...(before !== undefined && { before }) })
    if (page.length > 0) yield page
    before = page.length < PAGE ? undefined : page.at(-1)!.id
  } while (before !== undefined)
}

const PAGE = 500

type CallQuery = SelectQueryBuilder<Schema, 'calls', CallsTable>

/** A page of the calls that fit all of the filter but `q`. */
function filtered(store: Store, filter: CallFilter, { limit, before }: CallPage): CallQuery {
  const { account, from, to, model, key, status, fault } = filter
  let query = store.db.selectFrom('calls').selectAll().orderBy('id', 'desc').limit(limit)
  if (account !== undefined) query = query.where('account_id', '=', account)
  if (key !== undefined) query = query.where('key_id', '=', key)
  // A name without a namespace is an alias.
  if (model !== undefined) query = query.where(model.includes('/') ? 'model' : 'alias', '=', model)
  if (fault !== undefined) query = query.where('fault', '=', fault)
  if (status !== undefined) query = query.where('status', '=', status)
  // Every such call has a fault; with this condition the database can use the index of failed calls.
  if (status !== undefined && status >= 400) query = query.where('fault', 'is not', null)
  if (from !== undefined) query = query.where('id', '>=', firstRequestId(from))
  if (to !== undefined) query = query.where('id', '<', firstRequestId(to))
  if (before !== undefined) query = query.where('id', '<', before)
  return query
}

/** Ids end with hexadecimal digits. */
const LAST_CHARACTERS = /^[0-9a-f]{4,}$/

/** So many characters, as the console shows the last ones, name one call: another of a million ends in the same with a chance of 1 in 4,000. */
const ENOUGH = 8

/**
 * The newest ids that end in `text`. Those of failed calls are found by their index. For others all ids are read, of the account if one is
 * given: 0.2 s for a million of them on SQLite.
 */
async function idsEndingIn(store: Store, text: string, account: string | undefined): Promise<readonly string[]> {
  let ids = store.db.selectFrom('calls').select('id').where('id', 'like', `%${text}`)
  if (account !== undefined) ids = ids.where('account_id', '=', account)
  const end = sql<string>`substr(id, 33)`
  const failed = text.length < ENOUGH ? [] : await store.read(ids.where('fault', 'is not', null).where(end, '=', text.slice(-4)))
  const found = failed.length > 0 ? failed : await store.read(ids.orderBy('id', 'desc').limit(PAGE))
  return found.map(({ id }) => id)
}

/** An attempt as it is stored: rows of older versions lack the start. */
export type StoredAttempt = Omit<AttemptRecord, 'start'> & Partial<Pick<AttemptRecord, 'start'>>

/** A call as the management API and the command line show it. */
export interface CallView {
  readonly id: string
  /** RFC 3339. */
  readonly at: string
  readonly key: Named | null
  readonly account: Named | null
  readonly endpoint: string
  readonly model: string | null
  /** The alias that the client wrote. */
  readonly alias: string | null
  readonly served: Served | null
  readonly stream: boolean
  readonly status: number
  readonly outcome: string
  readonly fault: Fault | null
  /** `message`: null if its words are those of one call only. */
  readonly error: { readonly code: string | null; readonly row: string; readonly message: string | null } | null
  readonly attempts: readonly StoredAttempt[]
  readonly links: readonly LinkRecord[]
  /** Milliseconds. */
  readonly ms: { readonly total: number; readonly first_byte: number | null; readonly overhead: number }
  readonly tokens: {
    readonly input: number
    readonly output: number
    readonly cached: number
    readonly reasoning: number
    readonly estimated: boolean
  } | null
  /** Null without tokens, and if no price is known. */
  readonly cost: {
    /** US dollars, exactly. */
    readonly usd: string
    /** What tokens from a cache of the upstream would have cost more without it; null in old rows. */
    readonly saved_usd: string | null
    /** The name of the price: its source and version. */
    readonly price: string
  } | null
  readonly tags: Readonly<Record<string, string>>
  /** Null if calls are not traced. */
  readonly trace_id: string | null
}

/** Converts rows to views, with the names of keys and accounts. */
export async function viewCalls(store: Store, calls: readonly CallsTable[]): Promise<readonly CallView[]> {
  const ids = (column: 'key_id' | 'account_id') => calls.map((call) => call[column])
  const keys = await namesOf(store, 'keys', ids('key_id'))
  const accounts = await namesOf(store, 'accounts', ids('account_id'))
  return calls.map((call) => view(call, { key: named(call.key_id, keys), account: named(call.account_id, accounts) }))
}

function view(call: CallsTable, owners: Pick<CallView, 'key' | 'account'>): CallView {
  const attempts = JSON.parse(call.attempts) as StoredAttempt[]
  return {
    id: call.id,
    at: new Date(call.at).toISOString(),
    ...owners,
    endpoint: call.endpoint,
    model: call.model,
    alias: call.alias,
    served: call.served === 1 ? servedBy(attempts.at(-1)) : null,
    stream: call.stream === 1,
    status: call.status,
    outcome: call.outcome,
    fault: call.fault as Fault | null,
    error: call.error === null ? null : { code: call.error_code, row: call.error, message: meaningOf(call.error) },
    attempts,
    links: JSON.parse(call.links),
    ms: { total: call.total_us / 1000, first_byte: milliseconds(call.first_byte_us), overhead: call.overhead_us / 1000 },
    tokens: tokensOf(call),
    cost:
      call.cost === null
        ? null
        : {
            usd: formatUsd(call.cost),
            saved_usd: call.saved === null ? null : formatUsd(call.saved),
            price: call.price ?? '',
          },
    tags: JSON.parse(call.tags),
    trace_id: call.trace_id,
  }
}

/** What errors mean whose message is only of one call. */
const MEANINGS: Partial<Record<ErrorName, string>> = {
  invalid_body: 'The body of the request was not acceptable.',
  rate_limit_requests: 'A limit of requests was reached.',
  rate_limit_tokens: 'A limit of tokens was reached.',
  budget_exhausted: 'A budget was exhausted.',
}

/** The message of an error, by its row, without the values of the call: they may be the client's or the upstream's own words. */
export function meaningOf(error: string): string | null {
  const { message = '' } = ERRORS[error as ErrorName] ?? {}
  const words = message.replace(/\s*\{detail\}/g, '').replace(/\{\w+\}/g, '…')
  return MEANINGS[error as ErrorName] ?? (/\w/.test(words) ? words : null)
}

/** The target of the last attempt: none follows a successful one. */
function servedBy(last: StoredAttempt | undefined): Served | null {
  if (last === undefined) return null
  const { namespace, model, provider, credential } = last
  return { namespace, model, provider, ...(credential !== undefined && { credential }) }
}

function tokensOf(call: CallsTable): CallView['tokens'] {
  const { input_tokens, output_tokens, cached_tokens, reasoning_tokens, estimated } = call
  if (input_tokens === null && output_tokens === null) return null
  return {
    input: input_tokens ?? 0,
    output: output_tokens ?? 0,
    cached: cached_tokens ?? 0,
    reasoning: reasoning_tokens ?? 0,
    estimated: estimated === 1,
  }
}

const milliseconds = (microseconds: number | null): number | null => (microseconds === null ? null : microseconds / 1000)
