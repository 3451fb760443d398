import { Alert, Button, Group, Stack, Text } from '@mantine/core'
import { IconMessageCircle, IconRefresh, IconTrash } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { EmptyMessage } from '../../ui/empty-message.tsx'
import { STOPPED } from './answer.ts'
import styles from './conversation.module.css'
import type { Exchange } from './use-conversation.ts'
import { useFollowedEnd } from './use-followed-end.ts'

/** The exchanges, and what can be done to them. */
export interface ConversationProps {
  readonly exchanges: readonly Exchange[]
  readonly running: boolean
  /** Repeats the last message; undefined while that is impossible. */
  readonly onRetry: (() => void) | undefined
  readonly onRemove: (id: number) => void
}

/** The conversation. Screen readers announce a reply when it is complete. */
export function Conversation({ exchanges, running, onRetry, onRemove }: ConversationProps) {
  const last = exchanges.at(-1)
  useFollowedEnd(running, last)
  if (last === undefined)
    return (
      <EmptyMessage icon={IconMessageCircle} title="Send a message">
        Your messages go through the gateway like the calls of any client, and appear under Usage and Requests.
      </EmptyMessage>
    )
  return (
    <Stack gap="lg" aria-live="polite" aria-busy={running}>
      {exchanges.map((exchange) => (
        <ExchangeView
          key={exchange.id}
          exchange={exchange}
          running={running && exchange === last}
          onRetry={exchange === last && !running ? onRetry : undefined}
          onRemove={running ? undefined : () => onRemove(exchange.id)}
        />
      ))}
    </Stack>
  )
}

interface ExchangeProps {
  readonly exchange: Exchange
  readonly running: boolean
  readonly onRetry: (() => void) | undefined
  readonly onRemove: (() => void) | undefined
}

function ExchangeView({ exchange: { message, answer }, running, onRetry, onRemove }: ExchangeProps) {
  const { text, reasoning, error } = answer
  return (
    <Stack gap="sm">
      <Message name="You" className={styles.user}>
        {message}
      </Message>
      {(text !== '' || reasoning !== '' || running) && (
        <Message name="Model" className={styles.assistant} reasoning={reasoning}>
          {text}
          {running && <span className={styles.cursor} aria-hidden="true" />}
        </Message>
      )}
      {error !== undefined && (
        <Alert color={error === STOPPED ? 'gray' : 'red'} role="alert">
          {error} {text === '' && 'Without an answer, this message is left out of later requests.'}
        </Alert>
      )}
      <Group gap="xs" className={styles.actions}>
        {onRetry !== undefined && (
          <Button size="compact-xs" variant="subtle" color="gray" leftSection={<IconRefresh size={14} />} onClick={onRetry}>
            Retry
          </Button>
        )}
        {onRemove !== undefined && (
          <Button size="compact-xs" variant="subtle" color="gray" leftSection={<IconTrash size={14} />} onClick={onRemove}>
            Delete
          </Button>
        )}
      </Group>
    </Stack>
  )
}

interface MessageProps {
  readonly name: string
  readonly className: string | undefined
  readonly reasoning?: string
  readonly children: ReactNode
}

function Message({ name, className, reasoning = '', children }: MessageProps) {
  return (
    <div className={className}>
      <Text size="xs" fw={600} c="dimmed" mb={2}>
        {name}
      </Text>
      {reasoning !== '' && (
        <details className={styles.reasoning}>
          <summary>Reasoning</summary>
          {reasoning}
        </details>
      )}
      <div className={styles.text}>{children}</div>
    </div>
  )
}
