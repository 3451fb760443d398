import { Button, Group, Modal, Stack } from '@mantine/core'
import type { ReactNode } from 'react'
import { Failure } from './failure.tsx'

/** A form in a dialog. It is mounted only while open, so that it starts empty each time. */
export interface FormDialogProps {
  readonly title: string
  /** The label of the submit button. */
  readonly action: string
  readonly danger?: boolean
  readonly disabled?: boolean
  readonly pending: boolean
  /** The error that no field shows. */
  readonly refusal: Error | null
  readonly onSubmit: () => void
  readonly onClose: () => void
  readonly children: ReactNode
}

/** A dialog with a form, its errors, and the buttons to cancel and to submit. */
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
