import { Alert, Button, Checkbox, Group, Stack, Text } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import { useState } from 'react'
import type { CreatedApiKey } from '../../api/keys.ts'
import { useModels } from '../../api/models.ts'
import { useSignedIn } from '../../api/session.ts'
import { CodeBlock } from '../../ui/code-block.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { SecretField } from '../../ui/secret-field.tsx'
import { useLeaveGuard } from '../../ui/use-leave-guard.ts'
import { curlLine } from './curl-line.ts'

/** Shows a new secret, once: only "Done" closes the dialog, and only after "I have saved this key" is checked. */
export function SavedKeyDialog({ apiKey, onDone }: { readonly apiKey: CreatedApiKey; readonly onDone: () => void }) {
  const [saved, setSaved] = useState(false)
  useLeaveGuard(!saved)
  const { gateway } = useSignedIn()
  const { models } = useModels()
  return (
    <Dialog
      onClose={onDone}
      title="Save your key"
      size={700}
      withCloseButton={false}
      closeOnEscape={false}
      closeOnClickOutside={false}
    >
      <Stack>
        <Alert color="orange" icon={<IconAlertTriangle size={18} />}>
          The secret of <b>{apiKey.name}</b> is shown only once. The gateway stores its digest, not the secret, and cannot show it
          again.
        </Alert>
        <SecretField label="Secret" secret={apiKey.secret} />
        {apiKey.kind !== 'admin' && (
          <div>
            <Text size="sm" fw={500} mb={4}>
              Try it
            </Text>
            <CodeBlock what="curl command" text={curlLine(gateway.base_url, apiKey, models)} />
          </div>
        )}
        <Checkbox
          label="I have saved this key"
          checked={saved}
          onChange={({ currentTarget }) => setSaved(currentTarget.checked)}
        />
        <Group justify="flex-end">
          <Button disabled={!saved} onClick={onDone}>
            Done
          </Button>
        </Group>
      </Stack>
    </Dialog>
  )
}
