import { Button } from '@mantine/core'
import { IconMapSearch } from '@tabler/icons-react'
import { Link } from 'react-router'
import { EmptyMessage } from '../ui/empty-message.tsx'
import { Page } from '../ui/page.tsx'

/** The page for an unknown URL. */
export function NotFound() {
  return (
    <Page title="Page not found">
      <EmptyMessage
        icon={IconMapSearch}
        title="There is no page at this address"
        action={
          <Button component={Link} to="/" variant="default" size="xs">
            Go to the home page
          </Button>
        }
      >
        It may have been renamed, or the link may be incomplete.
      </EmptyMessage>
    </Page>
  )
}
