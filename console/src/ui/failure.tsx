import { Alert, Button, Code, Group, Stack, Text } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import { ApiError } from '../api/http.ts'
import { CopyButton } from './copy-button.tsx'

/** What went wrong, with the request id that finds it in the log, and a way on. */
export function Failure({
  error,
  onRetry,
  title,
}: {
  readonly error: Error
  readonly onRetry?: () => void
  readonly title?: string
}) {
  const requestId = error instanceof ApiError ? error.requestId : null
  return (
    <Alert color="red" icon={<IconAlertTriangle size={18} />} title={title} role="alert">
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{error.message}</Text>
        {requestId !== null && (
          <Group gap={4}>
            <Text size="xs" c="dimmed">
              Request
            </Text>
            <Code>{requestId}</Code>
            <CopyButton text={requestId} what="request id" />
          </Group>
        )}
        {onRetry !== undefined && (
          <Button size="xs" variant="default" onClick={onRetry}>
            Try again
          </Button>
        )}
      </Stack>
    </Alert>
  )
}
