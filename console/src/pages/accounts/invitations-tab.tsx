import { IconTrash, IconUserPlus } from '@tabler/icons-react'
import { useState } from 'react'
import { type CreatedInvitation, type Invitation, useInvitations, useWithdrawInvitation } from '../../api/accounts.ts'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { EmptyMessage } from '../../ui/empty-message.tsx'
import { Refusals } from '../../ui/refusals.tsx'
import { RowAction } from '../../ui/row-action.tsx'
import { TimeAgo } from '../../ui/time-ago.tsx'
import type { Creation } from './accounts-tab.tsx'
import { InviteDialog } from './invite-dialog.tsx'
import { LinkDialog } from './link-dialog.tsx'

/** The open invitations. */
export function InvitationsTab({ creating, onClose }: Creation) {
  const list = useInvitations()
  const withdraw = useWithdrawInvitation()
  const [created, setCreated] = useState<CreatedInvitation>()
  const columns: readonly Column<Invitation>[] = [
    { header: 'E-mail', cell: ({ email }) => email },
    { header: 'Account', cell: ({ account }) => account.name },
    { header: 'Role', cell: ({ role }) => (role === 'admin' ? 'Admin' : 'Member') },
    { header: 'Invited', cell: ({ created_at }) => <TimeAgo at={created_at} /> },
    { header: 'Expires', cell: ({ expires_at }) => <TimeAgo at={expires_at} /> },
    {
      header: '',
      width: 48,
      cell: ({ id, email }) => (
        <RowAction icon={IconTrash} label={`Withdraw the invitation for ${email}`} onClick={() => withdraw.mutate({ id })} />
      ),
    },
  ]
  return (
    <>
      <Refusals of={[withdraw]} />
      <DataTable
        label="Invitations"
        columns={columns}
        list={list}
        rowKey={({ id }) => id}
        empty={
          <EmptyMessage icon={IconUserPlus} title="No open invitations">
            An invitation is a link. The person who opens it chooses a password and is signed in.
          </EmptyMessage>
        }
      />
      {creating && (
        <InviteDialog
          onInvited={(link) => {
            onClose()
            setCreated(link)
          }}
          onClose={onClose}
        />
      )}
      {created !== undefined && <LinkDialog invitation={created} onDone={() => setCreated(undefined)} />}
    </>
  )
}
