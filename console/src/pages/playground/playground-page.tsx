import { Box, Button, Stack, Tabs, Text } from '@mantine/core'
import { useEffect, useState } from 'react'
import { useCreateKey } from '../../api/keys.ts'
import { useModels } from '../../api/models.ts'
import { useSignedIn } from '../../api/session.ts'
import { CodeBlock } from '../../ui/code-block.tsx'
import { closeNotice, notify } from '../../ui/notices.ts'
import { Page } from '../../ui/page.tsx'
import { useFilters } from '../../ui/use-filters.ts'
import { NO_ANSWER } from './answer.ts'
import { AnswerFacts } from './answer-facts.tsx'
import { CodeTab } from './code-tab.tsx'
import { Composer } from './composer.tsx'
import { Conversation } from './conversation.tsx'
import { useHeldKey } from './key-memory.ts'
import styles from './playground-page.module.css'
import { bodyOf, INITIAL_SETTINGS } from './settings.ts'
import { SettingsPanel } from './settings-panel.tsx'
import { lastTurns, type Question, useConversation } from './use-conversation.ts'

const RAW_HEIGHT = 560

const HELLO = { role: 'user', content: 'Hello!' } as const

/** Calls a model as a client would: shows the streamed reply, its raw events, and the same request as code. */
export function PlaygroundPage() {
  const { first } = useModels()
  const [{ model }, setFilters] = useFilters({ model: first })
  const [others, setOthers] = useState(INITIAL_SETTINGS)
  const { exchanges, running, send, retry, remove, clear, stop } = useConversation()
  // What a message would undo is gone with the page.
  useEffect(() => closeNotice, [])
  const create = useCreateKey()
  const key = useHeldKey(useSignedIn().user.id)
  const settings = { ...others, model }
  const answer = exchanges.at(-1)?.answer ?? NO_ANSWER
  const obstacle = key === undefined ? 'Create or paste a key first' : model === '' ? 'Choose a model first' : undefined
  const question: Question | undefined =
    key === undefined || model === '' ? undefined : { secret: key.secret, bodyOf: (turns) => bodyOf(settings, turns) }

  return (
    <Page
      title="Playground"
      about="Try a model through the gateway, with a real key, as a client would."
      actions={
        <Button
          variant="default"
          disabled={exchanges.length === 0}
          onClick={() => notify({ text: 'A new conversation has begun.', undo: clear() })}
        >
          New conversation
        </Button>
      }
    >
      <Box className={styles.columns}>
        <SettingsPanel
          settings={settings}
          create={create}
          onChange={({ model: next, ...changes }) => {
            if (next !== undefined) setFilters({ model: next })
            setOthers((before) => ({ ...before, ...changes }))
          }}
        />
        <Tabs defaultValue="conversation" className={styles.talk}>
          <Tabs.List mb="md">
            <Tabs.Tab value="conversation">Conversation</Tabs.Tab>
            <Tabs.Tab value="raw">Raw</Tabs.Tab>
            <Tabs.Tab value="code">Code</Tabs.Tab>
          </Tabs.List>
          <Tabs.Panel value="conversation">
            <Stack>
              <Conversation
                exchanges={exchanges}
                running={running}
                onRetry={question && (() => void retry(question))}
                onRemove={(id) => notify({ text: 'Deleted a message and its answer.', undo: remove(id) })}
              />
              <AnswerFacts answer={answer} />
              <Composer
                running={running}
                obstacle={obstacle}
                keyPending={create.isPending}
                onSend={(text) => question && void send(question, text)}
                onStop={stop}
              />
            </Stack>
          </Tabs.Panel>
          <Tabs.Panel value="raw">
            {answer.raw === '' ? (
              <Text size="sm" c="dimmed">
                The reply appears here as the gateway sent it, event by event.
              </Text>
            ) : (
              <CodeBlock what="raw reply" text={answer.raw} maxHeight={RAW_HEIGHT} wrap />
            )}
          </Tabs.Panel>
          <Tabs.Panel value="code">
            <CodeTab body={bodyOf(settings, exchanges.length === 0 ? [HELLO] : lastTurns(exchanges))} />
          </Tabs.Panel>
        </Tabs>
      </Box>
    </Page>
  )
}
