import { TextInput } from '@mantine/core'
import { useState } from 'react'
import { FormDialog, type FormDialogProps } from './form-dialog.tsx'

/** A dialog for what cannot be undone: the button is enabled when the object's name is typed. */
export function ConfirmByName({
  name,
  children,
  ...dialog
}: Omit<FormDialogProps, 'danger' | 'disabled'> & { readonly name: string }) {
  const [typed, setTyped] = useState('')
  return (
    <FormDialog {...dialog} danger disabled={typed.trim() !== name.trim()}>
      {children}
      <TextInput
        label={`Type "${name}" to confirm`}
        autoComplete="off"
        data-autofocus
        value={typed}
        onChange={({ currentTarget }) => setTyped(currentTarget.value)}
      />
    </FormDialog>
  )
}
