import { type Host, isRecord, type Secret } from 'unified-model-gateway/plugin'

/** A list of Google's, and as whom to ask for it. */
export interface List {
  readonly url: string
  readonly headers: Readonly<Record<string, string | Secret>>
  readonly host: Pick<Host, 'getJson'>
  readonly pageSize: number
}

/** More than Google has; an upstream that goes on for ever is cut off there. */
const MAX_PAGES = 30

/** The entries of a list under this name, over all its pages. Throws where Google cannot be asked. */
export async function entriesOf(name: string, list: List, signal: AbortSignal): Promise<Readonly<Record<string, unknown>>[]> {
  const { url, headers, host, pageSize } = list
  const entries: Readonly<Record<string, unknown>>[] = []
  let token = ''
  for (let count = 0; count < MAX_PAGES; count++) {
    const query = new URLSearchParams({ pageSize: String(pageSize), ...(token && { pageToken: token }) })
    const page: unknown = await host.getJson(`${url}?${query}`, { headers, signal })
    if (!isRecord(page)) break
    const found = page[name]
    if (Array.isArray(found)) entries.push(...found.filter(isRecord))
    if (typeof page.nextPageToken !== 'string' || page.nextPageToken === token) break
    token = page.nextPageToken
  }
  return entries
}
