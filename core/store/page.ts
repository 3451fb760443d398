import { type Expression, type RawBuilder, type SqlBool, sql } from 'kysely'
import { GatewayError } from '../errors.ts'
import type { Backend } from './backend.ts'

/** Which page of a list to read. */
export interface PageQuery {
  /** Items of the page; 50 if absent. */
  readonly limit?: number
  /** `next_cursor` of the previous page; the first page if absent. */
  readonly cursor?: string
}

/** A page of a list. */
export interface Page<Item> {
  readonly data: readonly Item[]
  /** The cursor of the next page; null on the last page. */
  readonly next_cursor: string | null
}

interface PagedRow {
  readonly id: string
  readonly created_at: number
}

const DEFAULT_LIMIT = 50

/**
 * Reads a page of the rows that a query selects, newest first. Unlike an offset, a cursor costs the same on every page, and skips
 * nothing when rows are added between two pages. Throws `invalid_value` for a malformed cursor, and what the database throws.
 */
export async function readPage<Row extends PagedRow>(
  store: Backend,
  rows: Expression<Row>,
  { limit = DEFAULT_LIMIT, cursor }: PageQuery,
): Promise<Page<Row>> {
  const after = cursor === undefined ? sql`true` : sql`(created_at, id) < (${sql.join(readCursor(cursor))})`
  // One row more than the page holds shows whether there is a next page.
  const page = sql<Row>`select * from (${rows}) as listed where ${after} order by created_at desc, id desc limit ${limit + 1}`
  const found = await store.read({ compile: () => page.compile(store.db) })
  const data = found.slice(0, limit)
  return { data, next_cursor: found.length > limit ? cursorOf(data.at(-1)!) : null }
}

/** Converts each row of a page. */
export function mapPage<Row, Item>({ data, next_cursor }: Page<Row>, itemOf: (row: Row) => Item): Page<Item> {
  return { data: data.map(itemOf), next_cursor }
}

/** Reads all items of a list, page by page. */
export async function everyPage<Item>(list: (page: PageQuery) => Promise<Page<Item>>): Promise<Item[]> {
  const items: Item[] = []
  let cursor: string | null | undefined
  do {
    const page: Page<Item> = await list({ limit: 500, ...(cursor != null && { cursor }) })
    items.push(...page.data)
    cursor = page.next_cursor
  } while (cursor !== null)
  return items
}

function cursorOf({ created_at, id }: PagedRow): string {
  return Buffer.from(`${created_at} ${id}`).toString('base64url')
}

function readCursor(cursor: string): readonly [at: number, id: string] {
  const [, at, id] = /^(\d{1,15}) (\w+)$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? []
  if (at !== undefined && id !== undefined) return [Number(at), id]
  throw new GatewayError('invalid_value', { param: 'cursor', values: { detail: 'it must be the `next_cursor` of a page' } })
}

/** Whether a column contains a text, ignoring case. `%` and `_` in the text match themselves only. */
export function contains(column: string, text: string): RawBuilder<SqlBool> {
  return sql<SqlBool>`lower(${sql.ref(column)}) like lower(${`%${text.replace(/[\\%_]/g, '\\$&')}%`}) escape '\\'`
}
