import { Button, Group, Stack } from '@mantine/core'
import type { ReactNode } from 'react'
import { Dialog } from './dialog.tsx'
import { Failure } from './failure.tsx'
import styles from './form-dialog.module.css'

/** A form in a dialog. */
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

/** A dialog with a form, its errors, and the buttons to cancel and to submit, which stay visible however long the form is. */
export function FormDialog(props: FormDialogProps) {
  const { title, action, danger = false, disabled = false, pending, refusal, onSubmit, onClose, children } = props
  return (
    // The key that closes a question above it, such as for the password, must not close the form too.
    <Dialog title={title} onClose={onClose} closeOnEscape={!pending} size="md">
      <form
        onSubmit={(event) => {
          event.preventDefault()
          onSubmit()
        }}
      >
        <Stack>{children}</Stack>
        <div className={styles.foot}>
          {refusal !== null && <Failure error={refusal} />}
          <Group justify="flex-end" gap="xs">
            {/* The focus begins here if no field before has asked for it: never on a button that changes something. */}
            <Button variant="default" data-autofocus onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" color={danger ? 'red.9' : undefined} loading={pending} disabled={disabled}>
              {action}
            </Button>
          </Group>
        </div>
      </form>
    </Dialog>
  )
}
