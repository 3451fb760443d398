import type { SelectQueryBuilder } from 'kysely'
import type { Store } from '../store/database.ts'
import type { CallsTable, Schema } from '../store/schema.ts'
import { firstRequestId } from './request-id.ts'

/** Which calls. Whatever is absent may be anything. */
export interface CallFilter {
  /** The account whose calls they are. */
  readonly account?: string
  /** Milliseconds since 1970; `to` is not among them. */
  readonly from?: number
  readonly to?: number
  /** How their ids begin; `req_` may be left out. */
  readonly q?: string
  readonly model?: string
  readonly key?: string
  readonly status?: number
  readonly fault?: string
}

/** Greater than every character of an id. */
const AFTER_ALL = '~'

/** Calls, the newest first. `before`: the id of the last one of the page before; calls that are added meanwhile change no page. */
export async function findCalls(
  store: Store,
  filter: CallFilter,
  { limit, before }: { readonly limit: number; readonly before?: string },
): Promise<readonly CallsTable[]> {
  const newest = store.db.selectFrom('calls').selectAll().orderBy('id', 'desc').limit(limit)
  const query = filtered(newest, filter)
  return store.read(before === undefined ? query : query.where('id', '<', before))
}

/** One call by its whole id. */
export async function findCall(store: Store, id: string): Promise<CallsTable | undefined> {
  const [call] = await store.read(store.db.selectFrom('calls').selectAll().where('id', '=', id))
  return call
}

/** All calls of a filter, newest first, read page by page as they are asked for. */
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

function filtered(calls: CallQuery, { account, from, to, q, model, key, status, fault }: CallFilter): CallQuery {
  let query = calls
  if (account !== undefined) query = query.where('account_id', '=', account)
  if (key !== undefined) query = query.where('key_id', '=', key)
  if (model !== undefined) query = query.where('model', '=', model)
  if (fault !== undefined) query = query.where('fault', '=', fault)
  if (status !== undefined) query = query.where('status', '=', status)
  // Every such call is somebody's fault; said here, it lets the database take the index of the failed ones.
  if (status !== undefined && status >= 400) query = query.where('fault', 'is not', null)
  if (from !== undefined) query = query.where('id', '>=', firstRequestId(from))
  if (to !== undefined) query = query.where('id', '<', firstRequestId(to))
  if (q === undefined) return query
  const beginning = q.startsWith('req_') ? q : `req_${q}`
  return query.where('id', '>=', beginning).where('id', '<', beginning + AFTER_ALL)
}
