import { Button, Group, Modal, Stack } from '@mantine/core'
import type { ReactNode } from 'react'
import { Failure } from './failure.tsx'

/** A form in a dialog. It is mounted while it is open, so that it begins anew each time. */
export interface FormDialogProps {
  readonly title: string
  /** On the button that does it. */
  readonly action: string
  readonly danger?: boolean
  readonly disabled?: boolean
  readonly pending: boolean
  /** What the gateway refused, where no field shows it. */
  readonly refusal: Error | null
  readonly onSubmit: () => void
  readonly onClose: () => void
  readonly children: ReactNode
}

/** Asks, does, and says what kept it from being done. */
export function FormDialog(props: FormDialogProps) {
  const { title, action, danger = false, disabled = false, pending, refusal, onSubmit, onClose, children } = props
  return (
    <Modal opened title={title} onClose={onClose} size="md">
      <form
        onSubmit={(event) => {
          event.preventDefault()
          onSubmit()
        }}
      >
        <Stack>
          {children}
          {refusal !== null && <Failure error={refusal} />}
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" color={danger ? 'red' : undefined} loading={pending} disabled={disabled}>
              {action}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}
