import { Alert, Stack, Text } from '@mantine/core'
import { IconMessageCircle } from '@tabler/icons-react'
import { EmptyMessage } from '../../ui/empty-message.tsx'
import { type Answer, STOPPED } from './answer.ts'
import styles from './conversation.module.css'
import type { Turn } from './settings.ts'

/** The messages, and the reply so far. */
export interface ConversationProps {
  readonly turns: readonly Turn[]
  readonly answer: Answer
  readonly running: boolean
}

const NAMES: Readonly<Record<Turn['role'], string>> = { user: 'You', assistant: 'Model' }

/** The conversation. Screen readers announce a reply when it is complete. */
export function Conversation({ turns, answer, running }: ConversationProps) {
  const pending = running || answer.error !== undefined
  if (turns.length === 0)
    return (
      <EmptyMessage icon={IconMessageCircle} title="Send a message">
        Your messages go through the gateway like the calls of any client, and appear under Usage and Requests.
      </EmptyMessage>
    )
  return (
    <Stack gap="lg" aria-live="polite" aria-busy={running}>
      {turns.map((turn, index) => (
        <Message key={index} turn={turn} />
      ))}
      {pending && (answer.text !== '' || answer.reasoning !== '' || running) && (
        <Message turn={{ role: 'assistant', content: answer.text }} reasoning={answer.reasoning} running={running} />
      )}
      {answer.error !== undefined && (
        <Alert color={answer.error === STOPPED ? 'gray' : 'red'} role="alert">
          {answer.error}
        </Alert>
      )}
    </Stack>
  )
}

/** A message, and the state of a reply that is still streamed. */
interface MessageProps {
  readonly turn: Turn
  readonly reasoning?: string
  readonly running?: boolean
}

function Message({ turn: { role, content }, reasoning = '', running = false }: MessageProps) {
  return (
    <div className={styles[role]}>
      <Text size="xs" fw={600} c="dimmed" mb={2}>
        {NAMES[role]}
      </Text>
      {reasoning !== '' && (
        <details className={styles.reasoning}>
          <summary>Reasoning</summary>
          {reasoning}
        </details>
      )}
      <div className={styles.text}>
        {content}
        {running && <span className={styles.cursor} aria-hidden="true" />}
      </div>
    </div>
  )
}
