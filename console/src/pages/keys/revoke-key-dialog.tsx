import { Alert, Stack, Text } from '@mantine/core'
import { type ApiKey, useLastUse, useRevokeKey } from '../../api/keys.ts'
import { ConfirmByName } from '../../ui/confirm-by-name.tsx'
import { notify } from '../../ui/notices.ts'
import { TimeAgo } from '../../ui/time-ago.tsx'
import { KeyIdentity } from './key-identity.tsx'

/** Revokes a key after its name is typed. */
export function RevokeKeyDialog({ apiKey, onClose }: { readonly apiKey: ApiKey; readonly onClose: () => void }) {
  const revoke = useRevokeKey()
  const { id, name, masked } = apiKey
  function done(): void {
    notify({ text: `Revoked ${name} (${masked}).` })
    onClose()
  }
  return (
    <ConfirmByName
      title={`Revoke ${name}`}
      action="Revoke key"
      name={name}
      pending={revoke.isPending}
      refusal={revoke.error}
      onSubmit={() => revoke.mutate({ id }, { onSuccess: done })}
      onClose={onClose}
    >
      <KeyIdentity apiKey={apiKey} />
      <Alert color="red">
        <Stack gap={4}>
          <Text size="sm">Clients that use this key are refused from the next request on. This cannot be undone.</Text>
          <LastUse apiKey={apiKey} />
          <OtherSecret apiKey={apiKey} />
        </Stack>
      </Alert>
    </ConfirmByName>
  )
}

function LastUse({ apiKey }: { readonly apiKey: ApiKey }) {
  const { data } = useLastUse(apiKey)
  if (data === undefined)
    return (
      <Text size="sm" c="dimmed">
        Reading its last use…
      </Text>
    )
  return (
    <Text size="sm" fw={600}>
      {data === null ? (
        'The key was never used.'
      ) : (
        <>
          It was last used <TimeAgo at={data} />.
        </>
      )}
    </Text>
  )
}

/** A rotated key has the name of its successor, and the other way round. */
function OtherSecret({ apiKey: { replaces, replaced_by } }: { readonly apiKey: ApiKey }) {
  if (replaced_by !== undefined) return <Text size="sm">It is the old secret of a rotated key: the new one keeps working.</Text>
  if (replaces !== undefined)
    return <Text size="sm">It is the new secret of a rotated key: an old one works until it expires or is revoked too.</Text>
  return null
}
