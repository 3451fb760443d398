import { Button, Center, Loader } from '@mantine/core'
import type { List } from '../api/list.ts'

/** A button that loads the next page of a list; hidden after the last page. */
export function LoadMore({ list }: { readonly list: Pick<List<unknown>, 'more' | 'loadingMore'> }) {
  const { more, loadingMore } = list
  if (more === undefined) return null
  return (
    <Center mt="sm">
      {/* Not disabled while it loads: it would lose the focus. */}
      <Button
        variant="default"
        size="xs"
        aria-busy={loadingMore}
        leftSection={loadingMore && <Loader size={12} />}
        onClick={loadingMore ? undefined : more}
      >
        Show more
      </Button>
    </Center>
  )
}
