import { ActionIcon, Badge, Menu, Stack, Text } from '@mantine/core'
import { IconDots, IconUsers } from '@tabler/icons-react'
import { useState } from 'react'
import { type User, useUsers } from '../../api/accounts.ts'
import { useSignedIn } from '../../api/session.ts'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { EmptyMessage } from '../../ui/empty-message.tsx'
import { FilterBar } from '../../ui/filter-bar.tsx'
import { Name } from '../../ui/name.tsx'
import { SearchField } from '../../ui/search-field.tsx'
import { StatusLabel } from '../../ui/status-label.tsx'
import { TimeAgo } from '../../ui/time-ago.tsx'
import { useFilters } from '../../ui/use-filters.ts'
import { USER_CHANGES, type UserChange, UserChangeDialog } from './user-changes.tsx'

/** The users. */
export function UsersTab() {
  const [{ q }, setFilters] = useFilters({ q: '' })
  const list = useUsers({ q })
  const [asked, setAsked] = useState<{ readonly user: User; readonly change: UserChange }>()
  const columns: readonly Column<User>[] = [
    { header: 'Name', cell: (user) => <Person user={user} /> },
    { header: 'Account', cell: ({ account }) => <Name>{account.name}</Name> },
    { header: 'Role', cell: ({ role }) => <RoleBadge role={role} /> },
    { header: 'Joined', cell: ({ created_at }) => <TimeAgo at={created_at} /> },
    { header: 'Last sign-in', cell: ({ last_sign_in_at }) => <TimeAgo at={last_sign_in_at} /> },
    {
      header: 'Status',
      cell: ({ disabled }) => <StatusLabel tone={disabled ? 'quiet' : 'good'}>{disabled ? 'Disabled' : 'Active'}</StatusLabel>,
    },
    {
      header: '',
      width: 48,
      cell: (user) => <UserMenu user={user} onChoose={(change) => setAsked({ user, change })} />,
    },
  ]
  return (
    <>
      <FilterBar>
        <SearchField label="Search users" value={q} onSearch={(text) => setFilters({ q: text.trim() })} />
      </FilterBar>
      <DataTable
        label="Users"
        columns={columns}
        list={list}
        rowKey={({ id }) => id}
        muted={({ disabled }) => disabled}
        empty={
          <EmptyMessage icon={IconUsers} title="No matching users">
            Search by a part of the name, of the e-mail address, or of the account's name.
          </EmptyMessage>
        }
      />
      {asked !== undefined && <UserChangeDialog {...asked} onClose={() => setAsked(undefined)} />}
    </>
  )
}

function Person({ user: { name, email } }: { readonly user: User }) {
  return (
    <Stack gap={0}>
      <Text size="sm" fw={500}>
        {name}
      </Text>
      <Text size="xs" c="dimmed">
        {email}
      </Text>
    </Stack>
  )
}

function RoleBadge({ role }: Pick<User, 'role'>) {
  return (
    <Badge size="sm" variant="light" color={role === 'admin' ? 'cobalt' : 'gray'} tt="capitalize">
      {role}
    </Badge>
  )
}

interface UserMenuProps {
  readonly user: User
  readonly onChoose: (change: UserChange) => void
}

/** Nobody changes themselves here. */
function UserMenu({ user: { id, name, role, disabled }, onChoose }: UserMenuProps) {
  const own = useSignedIn().user.id === id
  if (own) return null
  const item = (change: UserChange) => (
    <Menu.Item color={USER_CHANGES[change].danger ? 'red' : undefined} onClick={() => onChoose(change)}>
      {USER_CHANGES[change].item}
    </Menu.Item>
  )
  return (
    <Menu>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label={`Actions for ${name}`}>
          <IconDots size={17} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {item('sign-out')}
        <Menu.Divider />
        {item(role === 'admin' ? 'make-member' : 'make-admin')}
        {item(disabled ? 'enable' : 'disable')}
      </Menu.Dropdown>
    </Menu>
  )
}
