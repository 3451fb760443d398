import { Alert, Button, Group, Modal, Stack } from '@mantine/core'
import { SecretField } from '../../ui/secret-field.tsx'
import { TimeAgo } from '../../ui/time-ago.tsx'

/** An invitation's link, at the one time that it is told. */
export interface MadeLink {
  readonly email: string
  readonly link: string
  readonly expires_at: string
}

/** A link, and who hears that it was seen. */
export interface LinkDialogProps {
  readonly made: MadeLink
  readonly onDone: () => void
}

/** Shows the link once. */
export function LinkDialog({ made: { email, link, expires_at }, onDone }: LinkDialogProps) {
  return (
    <Modal
      opened
      onClose={onDone}
      title="Send this link"
      size="lg"
      withCloseButton={false}
      closeOnEscape={false}
      closeOnClickOutside={false}
    >
      <Stack>
        <Alert>
          Whoever opens it first becomes {email}. It works once, ends <TimeAgo at={expires_at} />, and is not shown again.
        </Alert>
        <SecretField label="Invitation link" secret={link} />
        <Group justify="flex-end">
          <Button onClick={onDone}>Done</Button>
        </Group>
      </Stack>
    </Modal>
  )
}
