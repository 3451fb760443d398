import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { get, type PathOf, type QueryOf, type ReplyOf } from './http.ts'

interface Page<Row> {
  readonly data: readonly Row[]
  /** Null: it was the last page. */
  readonly next_cursor: string | null
  /** The number of rows of all pages, of lists that count them. */
  readonly total?: number
}

/** The paths of lists. */
type ListPath = { [P in PathOf<'get'>]: ReplyOf<'get', P> extends Page<unknown> ? P : never }[PathOf<'get'>]

/** A row of a list. */
type RowOf<P> = ReplyOf<'get', P> extends Page<infer Row> ? Row : never

/** A list, as far as it was read. */
export interface List<Row> {
  /** Undefined until the first page is read. */
  readonly rows: readonly Row[] | undefined
  readonly error: Error | null
  /** The number of rows of all pages, if it is known. */
  readonly total?: number | undefined
  /** The rows are those of the previous filters. */
  readonly stale: boolean
  /** Reads the next page; undefined after the last. */
  readonly more: (() => void) | undefined
  readonly loadingMore: boolean
  readonly retry: () => void
}

/** How often the first page of a list is read again, since others change it: a growing one sooner, and while it is empty. */
const REFRESH_MS = { empty: 2_000, growing: 10_000, other: 20_000 }

/**
 * Reads a list page by page. Changes of others appear by themselves while only the first page is shown: sooner in
 * a `growing` list. When filters change, the
 * previous rows stay until the new ones are read, so that nothing jumps.
 */
export function useList<P extends ListPath>(path: P, query: QueryOf<P>, growing = false): List<RowOf<P>> {
  const pages = useInfiniteQuery({
    queryKey: [path, query],
    queryFn: ({ pageParam, signal }) => readPage(path, { ...query, cursor: pageParam }, signal),
    initialPageParam: '',
    getNextPageParam: (last) => last.next_cursor ?? undefined,
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => refreshMs(state.data?.pages, growing),
  })
  return {
    rows: pages.data?.pages.flatMap((page) => page.data),
    error: pages.error,
    total: pages.data?.pages[0]?.total,
    stale: pages.isPlaceholderData,
    more: pages.hasNextPage ? () => void pages.fetchNextPage() : undefined,
    loadingMore: pages.isFetchingNextPage,
    retry: () => void pages.refetch(),
  }
}

/** The compiler cannot see that every list takes a cursor and gives a page. */
const readPage = <P extends ListPath>(path: P, query: object, signal: AbortSignal) =>
  get<ListPath>(path, { query: query as QueryOf<ListPath>, signal }) as Promise<Page<RowOf<P>>>

/** A list that was read on is left as it is. */
function refreshMs(pages: readonly Page<unknown>[] = [], growing: boolean): number | false {
  if (pages.length !== 1) return false
  if (!growing) return REFRESH_MS.other
  return REFRESH_MS[pages[0]!.data.length === 0 ? 'empty' : 'growing']
}

/** The rows of a list that is read at once which are shown at first, and which each button adds. */
const SHOWN = 100

/** A list that is read at once, shown part by part: a page of ten thousand rows would take seconds. */
export function useShownPart<Row>(list: List<Row>): List<Row> {
  const [shown, setShown] = useState(SHOWN)
  const { rows } = list
  if (rows === undefined || rows.length <= shown) return list
  return { ...list, rows: rows.slice(0, shown), more: () => setShown(shown + SHOWN) }
}

/** A list that is read at once. */
export function wholeList<Row>(
  { error, refetch }: { readonly error: Error | null; readonly refetch: () => unknown },
  rows: readonly Row[] | undefined,
): List<Row> {
  return { rows, error, stale: false, more: undefined, loadingMore: false, retry: () => void refetch() }
}
