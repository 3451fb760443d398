import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { get, type Query } from './http.ts'

/** As many as a page can have: for fields to choose from. */
export const MOST_CHOICES = 200

/** A page of a list. */
export interface Page<Row> {
  readonly data: readonly Row[]
  /** Null: it was the last one. */
  readonly next_cursor: string | null
}

/** A list as far as it was read. */
export interface List<Row> {
  /** Undefined until the first page is there. */
  readonly rows: readonly Row[] | undefined
  readonly error: Error | null
  /** What is shown belongs to other filters than those asked for. */
  readonly stale: boolean
  /** Undefined: there is no more. */
  readonly more: (() => void) | undefined
  readonly loadingMore: boolean
  readonly retry: () => void
}

/** How often the beginning of a list is read again, that grows by itself: whoever waits for the first row sees it soon. */
const REFRESH_MS = { empty: 2_000, filled: 10_000 }

/**
 * Reads a list page by page. `growing`: what is new comes by itself, as long as nobody reads on below. While filters change, the rows
 * of the last ones stay, so that nothing jumps.
 */
export function useList<Row>(path: string, query: Query = {}, growing = false): List<Row> {
  const pages = useInfiniteQuery({
    queryKey: [path, query],
    queryFn: ({ pageParam, signal }) => get<Page<Row>>(path, { ...query, cursor: pageParam }, signal),
    initialPageParam: '',
    getNextPageParam: (last) => last.next_cursor ?? undefined,
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => growing && refreshMs(state.data?.pages),
  })
  return {
    rows: pages.data?.pages.flatMap((page) => page.data),
    error: pages.error,
    stale: pages.isPlaceholderData,
    more: pages.hasNextPage ? () => void pages.fetchNextPage() : undefined,
    loadingMore: pages.isFetchingNextPage,
    retry: () => void pages.refetch(),
  }
}

function refreshMs(pages: readonly Page<unknown>[] = []): number | false {
  return pages.length === 1 && REFRESH_MS[pages[0]!.data.length === 0 ? 'empty' : 'filled']
}

/** Something that is read whole, as a list. */
export function wholeList<Row>(
  { error, refetch }: { readonly error: Error | null; readonly refetch: () => unknown },
  rows: readonly Row[] | undefined,
): List<Row> {
  return { rows, error, stale: false, more: undefined, loadingMore: false, retry: () => void refetch() }
}
