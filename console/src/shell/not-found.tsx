import { Button } from '@mantine/core'
import { IconMapSearch } from '@tabler/icons-react'
import { Link } from 'react-router'
import { Nothing } from '../ui/nothing.tsx'
import { Page } from '../ui/page.tsx'

/** For an address that leads nowhere. */
export function NotFound() {
  return (
    <Page title="No such page">
      <Nothing
        icon={IconMapSearch}
        title="There is no page at this address"
        action={
          <Button component={Link} to="/" variant="default" size="xs">
            To the first page
          </Button>
        }
      >
        It may have been renamed, or the link was cut.
      </Nothing>
    </Page>
  )
}
