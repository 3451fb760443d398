import type { Call } from './call.ts'
import { InvalidConfig } from './invalid-config.ts'
import { isRecord, unknownShape } from './json.ts'
import type { Upload } from './upload.ts'

/** The base URL of an upstream's API. */
export interface BaseUrl {
  readonly origin: string
  /** Without a slash at its end; empty if the URL has no path. */
  readonly path: string
}

/** How a provider uses a base URL, also for error messages. */
export interface BaseUrlOptions {
  /** The name of its field in the config. Default: `baseUrl`. */
  readonly field?: string
  /** The path that the provider adds to it: `/chat/completions`. */
  readonly endpoint: string
  /** An end of the path that is removed, because only other tools expect it in a base URL: `/\/v1$/`. */
  readonly omit?: RegExp
  /** A valid base URL. */
  readonly example: string
}

/**
 * Reads a base URL of a config. Throws an InvalidConfig that says what to write instead, and does not repeat the URL: it may hold a credential.
 */
export function parseBaseUrl(baseUrl: string, { field = 'baseUrl', endpoint, omit, example }: BaseUrlOptions): BaseUrl {
  const invalid = (message: string) => new InvalidConfig({ path: [field], message })
  const url = URL.parse(baseUrl)
  if (url === null || !/^https?:$/.test(url.protocol))
    throw invalid(`must be an http or https URL: give the address before ${endpoint}, such as ${example}`)
  if (url.username !== '' || url.password !== '')
    throw invalid('must hold no credentials: remove the part before the @, credentials have fields of their own')
  if (/[?#]/.test(baseUrl)) throw invalid('must have no query and no fragment: end it before the ? or #')
  const path = url.pathname.replace(/\/+$/, '')
  if (path.endsWith(endpoint)) throw invalid(`must end before ${endpoint}, which is added to it`)
  return { origin: url.origin, path: omit === undefined ? path : path.replace(omit, '') }
}

/** How an upstream splits a list into pages. */
export interface Paging {
  /** The member of a page that holds its entries. */
  readonly entries: string
  /** The member of an entry that names it. Absent: entries are not looked at. */
  readonly id?: string
  /** Query parameters of every page. */
  readonly query?: Readonly<Record<string, string>>
  /** The query parameter that takes the cursor of a page. The first page is requested without it. */
  readonly cursor: string
  /** The cursor of the next page. Anything but a non-empty string: this was the last page. */
  next(page: Readonly<Record<string, unknown>>): unknown
}

/** GETs one page. `query`: its parameters. */
export type GetPage = (query: Readonly<Record<string, string>>) => Promise<unknown>

/** Stops at an upstream that returns pages without end; no real list is as long. */
const MAX_PAGES = 30

/**
 * The entries of all pages of a list that are objects and have a name. Throws what `get` throws, and an Error for what is not a page, or has only entries without
 * one that can be read. An upstream may leave out a list that is empty.
 */
export async function readPages(
  get: GetPage,
  { entries, id, query, cursor, next }: Paging,
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const found: Readonly<Record<string, unknown>>[] = []
  let at: string | undefined
  for (let count = 0; count < MAX_PAGES; count++) {
    const page = await get({ ...query, ...(at !== undefined && { [cursor]: at }) })
    if (!isRecord(page)) throw unknownShape('a page of a list')
    const own = page[entries] ?? []
    if (!Array.isArray(own)) throw unknownShape(entries)
    const read = own.filter((entry) => isRecord(entry) && (id === undefined || typeof entry[id] === 'string'))
    if (own.length > 0 && read.length === 0) throw unknownShape(`the entries of ${entries}`)
    found.push(...read)
    const after = next(page)
    if (typeof after !== 'string' || after === '' || after === at) break
    at = after
  }
  return found
}

/** The client's own body, JSON or form, with some members replaced, added, or (by `undefined`) removed. */
export const bodyWith = (call: Call, members: Readonly<Record<string, unknown>>): Uint8Array | Upload =>
  call.form?.(members) ?? call.splice(members)
