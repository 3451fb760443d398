import { Alert, Button, Group, Stack } from '@mantine/core'
import type { CreatedInvitation } from '../../api/accounts.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { SecretField } from '../../ui/secret-field.tsx'
import { TimeAgo } from '../../ui/time-ago.tsx'

/** The new invitation, and the handler of closing. */
export interface LinkDialogProps {
  readonly invitation: CreatedInvitation
  readonly onDone: () => void
}

/** Shows the link once. */
export function LinkDialog({ invitation: { email, link, expires_at }, onDone }: LinkDialogProps) {
  return (
    <Dialog
      onClose={onDone}
      title="Send this link"
      size="lg"
      withCloseButton={false}
      closeOnEscape={false}
      closeOnClickOutside={false}
    >
      <Stack>
        <Alert>
          Anyone who opens it can sign in as {email}: send it to nobody else. It works once, expires{' '}
          <TimeAgo at={expires_at} planned />, and is not shown again.
        </Alert>
        <SecretField label="Invitation link" secret={link} />
        <Group justify="flex-end">
          <Button onClick={onDone}>Done</Button>
        </Group>
      </Stack>
    </Dialog>
  )
}
