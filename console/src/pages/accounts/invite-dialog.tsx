import { Input, SegmentedControl, TextInput } from '@mantine/core'
import { useId } from 'react'
import { type CreatedInvitation, useInvite } from '../../api/accounts.ts'
import { type Role, useSignedIn } from '../../api/session.ts'
import { AccountField } from '../../ui/account-field.tsx'
import { emailNote } from '../../ui/email-note.ts'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { besidesFields, useFields } from '../../ui/use-fields.ts'

const ROLES = [
  { value: 'member', label: 'Member' },
  { value: 'admin', label: 'Admin' },
]

const ABOUT: Readonly<Record<Role, string>> = {
  member: 'Sees the keys, usage and requests of the account.',
  admin: 'Sees and changes everything on this gateway.',
}

/** The handlers of the dialog. */
export interface InviteDialogProps {
  readonly onInvited: (link: CreatedInvitation) => void
  readonly onClose: () => void
}

/** Invites a user into an account, with a role. */
export function InviteDialog({ onInvited, onClose }: InviteDialogProps) {
  const { account } = useSignedIn()
  const invite = useInvite()
  const roleLabel = useId()
  const { values, set, text } = useFields({ email: '', role: 'member' as Role, account_id: account.id }, invite.error)
  return (
    <FormDialog
      title="Invite a user"
      action="Create invitation"
      pending={invite.isPending}
      refusal={besidesFields(invite.error, ['email'])}
      onSubmit={() => invite.mutate(values, { onSuccess: onInvited })}
      onClose={onClose}
    >
      <TextInput label="E-mail" type="email" required data-autofocus description={emailNote(values.email)} {...text('email')} />
      <AccountField value={values.account_id} onChange={(id) => set('account_id', id)} />
      <Input.Wrapper label="Role" labelElement="div" labelProps={{ id: roleLabel }} description={ABOUT[values.role]}>
        <SegmentedControl
          fullWidth
          mt={6}
          aria-labelledby={roleLabel}
          data={ROLES}
          value={values.role}
          onChange={(role) => set('role', role as Role)}
        />
      </Input.Wrapper>
    </FormDialog>
  )
}
