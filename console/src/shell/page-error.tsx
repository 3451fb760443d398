import { Button, Container, Stack } from '@mantine/core'
import { useRouteError } from 'react-router'
import { Failure } from '../ui/failure.tsx'

/** Shown when a page throws, or its code cannot be loaded (as after an update of the gateway), which reloading usually fixes. */
export function PageError() {
  const thrown = useRouteError()
  const error = thrown instanceof Error ? thrown : new Error('The page could not be shown.')
  return (
    <Container size="xs" pt="20vh">
      <Stack align="flex-start">
        <Failure error={error} title="This page failed to load" />
        <Button variant="default" onClick={() => window.location.reload()}>
          Reload
        </Button>
      </Stack>
    </Container>
  )
}
