import { isRecord } from './json.ts'

/** Where an upstream's API is. */
export interface BaseUrl {
  readonly origin: string
  /** It has no slash at its end: of an address without a path it is empty. */
  readonly path: string
}

/** What to tell the operator of a base URL that cannot be used. */
export interface BaseUrlOptions {
  /** The name of its field in the config. Default: `baseUrl`. */
  readonly field?: string
  /** The path that the provider adds to it: `/chat/completions`. */
  readonly endpoint: string
  /** One that can be used. */
  readonly example: string
}

/**
 * Reads a base URL of a config. Throws an Error that says what to write instead, and does not repeat the URL: it may hold a credential.
 */
export function parseBaseUrl(baseUrl: string, { field = 'baseUrl', endpoint, example }: BaseUrlOptions): BaseUrl {
  const url = URL.parse(baseUrl)
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new Error(`${field} must be an http or https URL: give the address before ${endpoint}, such as ${example}`)
  }
  if (url.username !== '' || url.password !== '') {
    throw new Error(`${field} must hold no credentials: take out what stands before the @, credentials have fields of their own`)
  }
  if (/[?#]/.test(baseUrl)) throw new Error(`${field} must have no query and no fragment: end it before the ? or #`)
  const path = url.pathname.replace(/\/+$/, '')
  if (path.endsWith(endpoint)) throw new Error(`${field} must end before ${endpoint}, which is added to it`)
  return { origin: url.origin, path }
}

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
