import { Alert } from '@mantine/core'
import { type ApiKey, useRevokeKey } from '../../api/keys.ts'
import { ConfirmByName } from '../../ui/confirm-by-name.tsx'
import { TimeAgo } from '../../ui/time-ago.tsx'

/** Revokes a key after its name is typed. */
export function RevokeKeyDialog({ apiKey, onClose }: { readonly apiKey: ApiKey; readonly onClose: () => void }) {
  const revoke = useRevokeKey()
  const { id, name, last_used_at } = apiKey
  return (
    <ConfirmByName
      title={`Revoke ${name}`}
      action="Revoke key"
      name={name}
      pending={revoke.isPending}
      refusal={revoke.error}
      onSubmit={() => revoke.mutate({ id }, { onSuccess: onClose })}
      onClose={onClose}
    >
      <Alert color="red">
        Clients that use this key are refused from the next request on. This cannot be undone.{' '}
        {last_used_at === null ? (
          'The key was never used.'
        ) : (
          <b>
            It was last used <TimeAgo at={last_used_at} />.
          </b>
        )}
      </Alert>
    </ConfirmByName>
  )
}
