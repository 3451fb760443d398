import { Alert, Stack, Text } from '@mantine/core'
import { IconMessageCircle } from '@tabler/icons-react'
import { EmptyMessage } from '../../ui/empty-message.tsx'
import { type Answer, STOPPED } from './answer.ts'
import styles from './conversation.module.css'
import type { Turn } from './settings.ts'

/** What was said, and the answer as it comes. */
export interface ConversationProps {
  readonly turns: readonly Turn[]
  readonly answer: Answer
  readonly running: boolean
}

const NAMES: Readonly<Record<Turn['role'], string>> = { user: 'You', assistant: 'Model' }

/** The conversation. Screen readers hear an answer once it is whole. */
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
        <Said key={index} turn={turn} />
      ))}
      {pending && (answer.text !== '' || answer.reasoning !== '' || running) && (
        <Said turn={{ role: 'assistant', content: answer.text }} reasoning={answer.reasoning} running={running} />
      )}
      {answer.error !== undefined && (
        <Alert color={answer.error === STOPPED ? 'gray' : 'red'} role="alert">
          {answer.error}
        </Alert>
      )}
    </Stack>
  )
}

/** One turn, and what only the answer that is still coming has. */
interface SaidProps {
  readonly turn: Turn
  readonly reasoning?: string
  readonly running?: boolean
}

function Said({ turn: { role, content }, reasoning = '', running = false }: SaidProps) {
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
