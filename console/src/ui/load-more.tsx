import { Button, Center } from '@mantine/core'
import type { List } from '../api/list.ts'

/** A button that loads the next page of a list; hidden after the last page. */
export function LoadMore({ list }: { readonly list: Pick<List<unknown>, 'more' | 'loadingMore'> }) {
  if (list.more === undefined) return null
  return (
    <Center mt="sm">
      <Button variant="default" size="xs" loading={list.loadingMore} onClick={list.more}>
        Show more
      </Button>
    </Center>
  )
}
