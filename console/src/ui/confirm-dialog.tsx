import { Text } from '@mantine/core'
import { FormDialog, type FormDialogProps } from './form-dialog.tsx'

/** What is asked before a change that a click must not make alone. The children say what it does, and to whom. */
export type ConfirmDialogProps = Omit<FormDialogProps, 'disabled'>

/** A question before a change that matters but needs no typing. */
export function ConfirmDialog({ children, ...dialog }: ConfirmDialogProps) {
  return (
    <FormDialog {...dialog}>
      <Text size="sm" component="div">
        {children}
      </Text>
    </FormDialog>
  )
}
