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

/** The order of a list. Rows with the same value are in the order of their ids. */
export interface PageOrder {
  /** A column that the query selects; never null. */
  readonly column: string
  readonly type: 'number' | 'text'
  readonly direction: 'asc' | 'desc'
}

/** Newest first. */
const NEWEST: PageOrder = { column: 'created_at', type: 'number', direction: 'desc' }

const DEFAULT_LIMIT = 50

/**
 * Reads a page of the rows that a query selects, by default newest first. Unlike an offset, a cursor costs the same on every page, and skips
 * nothing when rows are added between two pages. Throws `invalid_value` for a malformed cursor, and what the database throws.
 */
export async function readPage<Row extends PagedRow>(
  store: Backend,
  rows: Expression<Row>,
  { limit = DEFAULT_LIMIT, cursor }: PageQuery,
  order = NEWEST,
): Promise<Page<Row>> {
  const { column, direction } = order
  const key = sql.ref(column)
  const [way, beyond] = direction === 'desc' ? [sql`desc`, sql`<`] : [sql`asc`, sql`>`]
  const after = cursor === undefined ? sql`true` : sql`(${key}, id) ${beyond} (${sql.join(readCursor(cursor, order))})`
  // One row more than the page holds shows whether there is a next page.
  const page = sql<Row>`select * from (${rows}) as listed where ${after} order by ${key} ${way}, id ${way} limit ${limit + 1}`
  const found = await store.read({ compile: () => page.compile(store.db) })
  const data = found.slice(0, limit)
  return { data, next_cursor: found.length > limit ? cursorOf(data.at(-1)!, order) : null }
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

function cursorOf<Row extends PagedRow>(row: Row, { column }: PageOrder): string {
  return Buffer.from(`${row[column as keyof Row]} ${row.id}`).toString('base64url')
}

/** The value and the id of the last row of a page. */
function readCursor(cursor: string, { type }: PageOrder): readonly [at: number | string, id: string] {
  const [, value, id] = /^(.{0,400}) (\w+)$/su.exec(Buffer.from(cursor, 'base64url').toString()) ?? []
  if (value !== undefined && id !== undefined && (type === 'text' || /^\d{1,15}$/.test(value)))
    return [type === 'text' ? value : Number(value), id]
  throw new GatewayError('invalid_value', { param: 'cursor', values: { detail: 'it must be the `next_cursor` of a page' } })
}

/** Whether a column contains a text, ignoring case. `%` and `_` in the text match themselves only. */
export function contains(column: string, text: string): RawBuilder<SqlBool> {
  return sql<SqlBool>`lower(${sql.ref(column)}) like lower(${`%${text.replace(/[\\%_]/g, '\\$&')}%`}) escape '\\'`
}
