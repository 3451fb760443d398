import { IconTrash, IconUserPlus } from '@tabler/icons-react'
import { useState } from 'react'
import { type CreatedInvitation, type Invitation, useInvitations, useWithdrawInvitation } from '../../api/accounts.ts'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { EmptyMessage } from '../../ui/empty-message.tsx'
import { FilterBar } from '../../ui/filter-bar.tsx'
import { Name } from '../../ui/name.tsx'
import { notify } from '../../ui/notices.ts'
import { RowAction } from '../../ui/row-action.tsx'
import { SearchField } from '../../ui/search-field.tsx'
import { TimeAgo } from '../../ui/time-ago.tsx'
import { useFilters } from '../../ui/use-filters.ts'
import type { Creation } from './accounts-tab.tsx'
import { InviteDialog } from './invite-dialog.tsx'
import { LinkDialog } from './link-dialog.tsx'

/** The open invitations. */
export function InvitationsTab({ creating, onClose }: Creation) {
  const [{ q }, setFilters] = useFilters({ q: '' })
  const list = useInvitations({ q })
  const [withdrawn, setWithdrawn] = useState<Invitation>()
  const [created, setCreated] = useState<CreatedInvitation>()
  const columns: readonly Column<Invitation>[] = [
    { header: 'E-mail', cell: ({ email }) => <Name>{email}</Name> },
    { header: 'Account', cell: ({ account }) => <Name>{account.name}</Name> },
    { header: 'Role', cell: ({ role }) => (role === 'admin' ? 'Admin' : 'Member') },
    { header: 'Invited', cell: ({ created_at }) => <TimeAgo at={created_at} /> },
    { header: 'Expires', cell: ({ expires_at }) => <TimeAgo at={expires_at} planned /> },
    {
      header: '',
      width: 48,
      cell: (invitation) => (
        <RowAction
          icon={IconTrash}
          label={`Withdraw the invitation for ${invitation.email}`}
          onClick={() => setWithdrawn(invitation)}
        />
      ),
    },
  ]
  return (
    <>
      <FilterBar>
        <SearchField label="Search invitations" value={q} onSearch={(text) => setFilters({ q: text.trim() })} />
      </FilterBar>
      <DataTable
        label="Invitations"
        columns={columns}
        list={list}
        rowKey={({ id }) => id}
        empty={
          <EmptyMessage icon={IconUserPlus} title={q === '' ? 'No open invitations' : 'No matching invitations'}>
            {q === ''
              ? 'An invitation is a link. The person who opens it chooses a password and is signed in.'
              : "Search by a part of the e-mail address or of the account's name. Used and expired invitations are not listed."}
          </EmptyMessage>
        }
      />
      {creating && created === undefined && (
        <InviteDialog
          onInvited={(link) => {
            onClose()
            setCreated(link)
          }}
          onClose={onClose}
        />
      )}
      {withdrawn !== undefined && <WithdrawDialog invitation={withdrawn} onClose={() => setWithdrawn(undefined)} />}
      {created !== undefined && <LinkDialog invitation={created} onDone={() => setCreated(undefined)} />}
    </>
  )
}

function WithdrawDialog({ invitation, onClose }: { readonly invitation: Invitation; readonly onClose: () => void }) {
  const { id, email, account, role } = invitation
  const withdraw = useWithdrawInvitation()
  function done(): void {
    notify({ text: `Withdrew the invitation for ${email}.` })
    onClose()
  }
  return (
    <ConfirmDialog
      title="Withdraw an invitation"
      action="Withdraw"
      danger
      pending={withdraw.isPending}
      refusal={withdraw.error}
      onSubmit={() => withdraw.mutate({ id }, { onSuccess: done })}
      onClose={onClose}
    >
      The link that <b>{email}</b> has, to join <b>{account.name}</b> as {role === 'admin' ? 'an admin' : 'a member'}, stops
      working at once. To invite this person again, create another invitation.
    </ConfirmDialog>
  )
}
