import { Button, Container, Stack } from '@mantine/core'
import { useEffect } from 'react'
import { useRouteError } from 'react-router'
import { Failure } from '../ui/failure.tsx'
import { isReplaced, PageFilesMissing } from './load-page.ts'

const reload = (): void => window.location.reload()

/**
 * Shown when a page throws, or its code cannot be loaded. If the gateway was replaced since the console was opened, the console is
 * loaded again, at this address.
 */
export function PageError() {
  const thrown = useRouteError()
  const error = thrown instanceof Error ? thrown : new Error('The page could not be shown.')
  useEffect(() => {
    if (!(error instanceof PageFilesMissing)) return
    isReplaced().then(
      (replaced) => replaced && reload(),
      () => undefined,
    )
  }, [error])
  return (
    <Container size="xs" pt="20vh">
      <Stack align="flex-start">
        <Failure error={error} title="This page failed to load" />
        <Button variant="default" onClick={reload}>
          Try again
        </Button>
      </Stack>
    </Container>
  )
}
