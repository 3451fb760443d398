import { Anchor } from '@mantine/core'
import { IconBuilding, IconPencil } from '@tabler/icons-react'
import { useState } from 'react'
import { Link } from 'react-router'
import { type Account, useAccounts } from '../../api/accounts.ts'
import { isDeclared } from '../../api/keys.ts'
import { CostCell } from '../../ui/cost-cell.tsx'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { DeclaredLock } from '../../ui/declared-lock.tsx'
import { EmptyMessage } from '../../ui/empty-message.tsx'
import { FilterBar } from '../../ui/filter-bar.tsx'
import { GlobList } from '../../ui/glob-list.tsx'
import { RowAction } from '../../ui/row-action.tsx'
import { SearchField } from '../../ui/search-field.tsx'
import { TimeAgo } from '../../ui/time-ago.tsx'
import { useFilters } from '../../ui/use-filters.ts'
import { AccountDialog } from './account-dialog.tsx'

/** A dialog that the URL can open. */
export interface Creation {
  readonly creating: boolean
  readonly onClose: () => void
}

/** The accounts. */
export function AccountsTab({ creating, onClose }: Creation) {
  const [{ q }, setFilters] = useFilters({ q: '' })
  const list = useAccounts({ q })
  const [edited, setEdited] = useState<Account>()
  const columns: readonly Column<Account>[] = [
    { header: 'Name', cell: ({ name }) => name },
    { header: 'Models', cell: ({ models }) => <GlobList globs={models} /> },
    { header: 'Rate class', cell: ({ rate_class }) => rate_class ?? 'Default' },
    { header: 'Cost, 30 days', cell: (account) => <CostCell {...account} /> },
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
      <FilterBar>
        <SearchField label="Search accounts" value={q} onSearch={(text) => setFilters({ q: text.trim() })} />
      </FilterBar>
      <DataTable
        label="Accounts"
        columns={columns}
        list={list}
        rowKey={({ id }) => id}
        empty={
          <EmptyMessage icon={IconBuilding} title={q === '' ? 'No accounts' : 'No matching accounts'}>
            {q === '' ? 'Create one for each team or customer.' : 'Search by a part of the name, or by the id.'}
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
