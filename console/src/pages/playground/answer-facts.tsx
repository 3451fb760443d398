import { Anchor, Group, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import { duration } from '../../ui/time-words.ts'
import { shortId } from '../requests/short-id.ts'
import type { Answer } from './answer.ts'

/** The facts of a reply: its target, times, tokens and request. */
export function AnswerFacts({ answer }: { readonly answer: Answer }) {
  const { status, servedBy, firstByteMs, totalMs, usage, finish, requestId } = answer
  const facts: readonly (readonly [string, ReactNode])[] = [
    ['Status', status],
    ['Served by', servedBy],
    ['First byte', firstByteMs !== undefined && duration(firstByteMs)],
    ['Total', totalMs !== undefined && duration(totalMs)],
    ['Tokens', usage !== undefined && `${usage.prompt_tokens} in, ${usage.completion_tokens} out`],
    ['Finish', finish],
    ['Request', requestId !== undefined && <RequestLink id={requestId} />],
  ]
  return (
    <Group gap="4px 24px">
      {facts
        .filter(([, value]) => value !== undefined && value !== false)
        .map(([name, value]) => (
          <Text key={name} size="xs" c="dimmed">
            {name}{' '}
            <Text span size="xs" c="var(--mantine-color-text)">
              {value}
            </Text>
          </Text>
        ))}
    </Group>
  )
}

function RequestLink({ id }: { readonly id: string }) {
  return (
    <Anchor component={Link} to={`/requests/${id}`} size="xs" ff="monospace" title={id}>
      {shortId(id)}
    </Anchor>
  )
}
