import { Alert, Code, List, ScrollArea, Text } from '@mantine/core'
import { useState } from 'react'
import { type ApiKey, type Revocation, useRevokeKeys } from '../../api/keys.ts'
import { ConfirmByName } from '../../ui/confirm-by-name.tsx'
import { notify } from '../../ui/notices.ts'
import { exactly } from '../../ui/numbers.ts'
import { TimeAgo } from '../../ui/time-ago.tsx'
import { keysInWords } from './key-words.ts'

const LIST_HEIGHT = 260

/** Revokes several keys after one question. Keys that could not be revoked stay in the dialog, each with the reason. */
export function RevokeKeysDialog({ keys, onClose }: { readonly keys: readonly ApiKey[]; readonly onClose: () => void }) {
  const revoke = useRevokeKeys()
  const [left, setLeft] = useState<readonly Revocation[]>(keys.map((key) => ({ key })))
  const count = keysInWords(left.length)

  function done(results: readonly Revocation[]): void {
    const failed = results.filter(({ error }) => error !== undefined)
    setLeft(failed)
    if (failed.length > 0) return
    notify({ text: `Revoked ${keysInWords(keys.length)}: ${keys.map(({ masked }) => masked).join(', ')}.` })
    onClose()
  }

  return (
    <ConfirmByName
      title={`Revoke ${count}`}
      action={`Revoke ${count}`}
      name="revoke"
      pending={revoke.isPending}
      refusal={revoke.error}
      onSubmit={() => revoke.mutate({ keys: left.map(({ key }) => key) }, { onSuccess: done })}
      onClose={onClose}
    >
      {left.length < keys.length && (
        <Alert color="orange" role="alert">
          {`${exactly(keys.length - left.length)} of ${keysInWords(keys.length)} are revoked. The others still work:`}
        </Alert>
      )}
      <ScrollArea.Autosize mah={LIST_HEIGHT} viewportProps={{ tabIndex: 0, 'aria-label': 'Keys to revoke' }}>
        <List listStyleType="none" spacing="xs" size="sm">
          {left.map(({ key, error }) => (
            <List.Item key={key.id}>
              <KeyToRevoke apiKey={key} error={error} />
            </List.Item>
          ))}
        </List>
      </ScrollArea.Autosize>
      <Alert color="red">
        Clients that use {left.length === 1 ? 'this key' : 'these keys'} are refused from the next request on. This cannot be
        undone.
      </Alert>
    </ConfirmByName>
  )
}

function KeyToRevoke({ apiKey, error }: { readonly apiKey: ApiKey; readonly error: Error | undefined }) {
  const { name, masked, account, last_used_at } = apiKey
  return (
    <>
      <Text size="sm">
        <b>{name}</b> <Code>{masked}</Code>
      </Text>
      <Text size="xs" c="dimmed">
        {account.name} · last used <TimeAgo at={last_used_at} never="never" />
      </Text>
      {error !== undefined && (
        <Text size="xs" c="var(--mantine-color-error)">
          Not revoked: {error.message}
        </Text>
      )}
    </>
  )
}
