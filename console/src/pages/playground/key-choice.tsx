import { Anchor, Button, Code, Group, PasswordInput, Stack, Text } from '@mantine/core'
import { IconKey } from '@tabler/icons-react'
import { type useCreateKey, useRevokeKey } from '../../api/keys.ts'
import { useSignedIn } from '../../api/session.ts'
import { Failure } from '../../ui/failure.tsx'
import { notify } from '../../ui/notices.ts'
import { holdKey, useHeldKey } from './key-memory.ts'

const HOUR_MS = 3_600_000

/** How the key of the playground is created. */
export interface KeyChoiceProps {
  readonly create: ReturnType<typeof useCreateKey>
}

/** Selects the key of the playground: a new one for an hour, or a pasted one. It is kept in the page's memory only. */
export function KeyChoice({ create }: KeyChoiceProps) {
  const { user } = useSignedIn()
  const held = useHeldKey(user.id)

  function make(): void {
    const expires_at = new Date(Date.now() + HOUR_MS).toISOString()
    create.mutate(
      { name: 'Playground', kind: 'live', models: ['*'], tags: {}, expires_at },
      {
        onSuccess: ({ id, masked, secret }) =>
          holdKey({ secret, userId: user.id, made: { id, masked, expiresAt: Date.parse(expires_at) } }),
      },
    )
  }

  if (held?.made !== undefined) return <MadeKey {...held.made} />
  return (
    <Stack gap="xs">
      <Button variant="default" size="sm" leftSection={<IconKey size={16} />} loading={create.isPending} onClick={make}>
        Create a key for one hour
      </Button>
      {create.error !== null && <Failure error={create.error} />}
      {/* Without `value`: React would write a pasted secret into the page's source. */}
      <PasswordInput
        label="Or paste a key"
        placeholder="sk-…"
        autoComplete="off"
        spellCheck={false}
        onChange={({ currentTarget: { value } }) => {
          const secret = value.trim()
          holdKey(secret === '' ? undefined : { secret, userId: user.id })
        }}
      />
      <Text size="xs" c="dimmed">
        It is kept in this page's memory only: reloading discards it.
      </Text>
    </Stack>
  )
}

function MadeKey({ id, masked }: { readonly id: string; readonly masked: string }) {
  const revoke = useRevokeKey()
  function end(): void {
    const done = (): void => {
      holdKey(undefined)
      notify({ text: `Revoked the playground's key (${masked}).` })
    }
    revoke.mutate({ id }, { onSuccess: done })
  }
  return (
    <Stack gap={4}>
      <Group justify="space-between" gap="xs">
        <Text size="sm">A key for one hour</Text>
        <Anchor component="button" type="button" size="sm" onClick={end}>
          Revoke it
        </Anchor>
      </Group>
      <Text size="xs" c="dimmed">
        <Code>{masked}</Code> is kept in this page only. Closing or reloading the page revokes it.
      </Text>
      {revoke.error !== null && <Failure error={revoke.error} />}
    </Stack>
  )
}
