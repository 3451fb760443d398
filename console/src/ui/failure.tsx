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

const NOT_OF_THE_API = { requestId: null, code: null }

/** In place of the message, which also speaks to programs. */
const SIGNED_OUT = 'You are not signed in, or your session has ended. Sign in again to go on.'

/** An error, with the request id for the log, and a button to try again. */
export function Failure({ error, onRetry, title }: FailureProps) {
  const { requestId, code } = error instanceof ApiError ? error : NOT_OF_THE_API
  return (
    <Alert color="red" icon={<IconAlertTriangle size={18} />} title={title} role="alert">
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{code === 'not_signed_in' ? SIGNED_OUT : error.message}</Text>
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
