import { isRecord } from './json.ts'

/** How a list of an upstream's comes in pages. */
export interface Paging {
  /** The member of a page that has its entries. */
  readonly entries: string
  /** Query parameters of every page. */
  readonly query?: Readonly<Record<string, string>>
  /** The query parameter that takes the cursor of a page. The first page is asked for without. */
  readonly cursor: string
  /** The cursor of the page after this one. Anything but a non-empty text: there is none. */
  next(page: Readonly<Record<string, unknown>>): unknown
}

/** GETs one page. `query`: its parameters. */
export type GetPage = (query: Readonly<Record<string, string>>) => Promise<unknown>

/** An upstream that goes on for ever is cut off here; no list is as long. */
const MAX_PAGES = 30

/** The entries of all pages of a list that are objects. Throws what `get` throws. */
export async function readPages(
  get: GetPage,
  { entries, query, cursor, next }: Paging,
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const found: Readonly<Record<string, unknown>>[] = []
  let at: string | undefined
  for (let count = 0; count < MAX_PAGES; count++) {
    const page = await get({ ...query, ...(at !== undefined && { [cursor]: at }) })
    if (!isRecord(page)) break
    const own = page[entries]
    if (Array.isArray(own)) found.push(...own.filter(isRecord))
    const after = next(page)
    if (typeof after !== 'string' || after === '' || after === at) break
    at = after
  }
  return found
}
