import { Alert, Button, Stack, Text } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import { ApiError } from '../api/http.ts'
import { CopyButton } from './copy-button.tsx'
import styles from './failure.module.css'

/** An error to show. */
export interface FailureProps {
  readonly error: Error
  readonly onRetry?: () => void
  readonly title?: string
}

/** An error, with the request id for the log, and a button to try again. */
export function Failure({ error, onRetry, title }: FailureProps) {
  const requestId = error instanceof ApiError ? error.requestId : null
  return (
    <Alert color="red" icon={<IconAlertTriangle size={18} />} title={title} role="alert">
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{error.message}</Text>
        {requestId !== null && (
          <Text size="xs" c="dimmed" className={styles.request}>
            Request {requestId} <CopyButton text={requestId} what="request id" />
          </Text>
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
