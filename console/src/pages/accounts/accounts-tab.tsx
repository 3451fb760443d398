import { Anchor } from '@mantine/core'
import { IconBuilding, IconPencil } from '@tabler/icons-react'
import { useState } from 'react'
import { Link } from 'react-router'
import { type Account, useAccounts } from '../../api/accounts.ts'
import { isDeclared } from '../../api/keys.ts'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { DeclaredLock } from '../../ui/declared-lock.tsx'
import { EmptyMessage } from '../../ui/empty-message.tsx'
import { GlobList } from '../../ui/glob-list.tsx'
import { RowAction } from '../../ui/row-action.tsx'
import { SpendingList } from '../../ui/spending-list.tsx'
import { TimeAgo } from '../../ui/time-ago.tsx'
import { AccountDialog } from './account-dialog.tsx'

/** A dialog that the URL can open. */
export interface Creation {
  readonly creating: boolean
  readonly onClose: () => void
}

/** The accounts. */
export function AccountsTab({ creating, onClose }: Creation) {
  const list = useAccounts()
  const [edited, setEdited] = useState<Account>()
  const columns: readonly Column<Account>[] = [
    { header: 'Name', cell: ({ name }) => name },
    { header: 'Models', cell: ({ models }) => <GlobList globs={models} /> },
    { header: 'Rate class', cell: ({ rate_class }) => rate_class ?? 'Default' },
    { header: 'Budgets', cell: ({ spending }) => <SpendingList spending={spending} /> },
    { header: 'Created', cell: ({ created_at }) => <TimeAgo at={created_at} /> },
    { header: 'Users', cell: ({ users }) => users },
    { header: 'Keys', cell: (account) => <KeysLink account={account} /> },
    {
      header: '',
      width: 48,
      cell: (account) =>
        isDeclared(account) ? (
          <DeclaredLock source={account.source} />
        ) : (
          <RowAction icon={IconPencil} label={`Edit ${account.name}`} onClick={() => setEdited(account)} />
        ),
    },
  ]
  return (
    <>
      <DataTable
        label="Accounts"
        columns={columns}
        list={list}
        rowKey={({ id }) => id}
        empty={
          <EmptyMessage icon={IconBuilding} title="No accounts">
            Create one for each team or customer.
          </EmptyMessage>
        }
      />
      {creating && <AccountDialog onClose={onClose} />}
      {edited !== undefined && <AccountDialog account={edited} onClose={() => setEdited(undefined)} />}
    </>
  )
}

function KeysLink({ account: { id, name, keys } }: { readonly account: Account }) {
  return (
    <Anchor component={Link} to={`/keys?account_id=${id}`} size="sm" aria-label={`${keys} keys of ${name}`}>
      {keys}
    </Anchor>
  )
}
