import { ActionIcon, Badge, Menu, Stack, Text } from '@mantine/core'
import { IconDots, IconUsers } from '@tabler/icons-react'
import { type User, useEditUser, useEndSessions, useUsers } from '../../api/accounts.ts'
import { useSignedIn } from '../../api/session.ts'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { EmptyMessage } from '../../ui/empty-message.tsx'
import { Refusals } from '../../ui/refusals.tsx'
import { StatusLabel } from '../../ui/status-label.tsx'
import { TimeAgo } from '../../ui/time-ago.tsx'

/** The users. */
export function UsersTab() {
  const list = useUsers()
  const edit = useEditUser()
  const endSessions = useEndSessions()
  const columns: readonly Column<User>[] = [
    { header: 'Name', cell: (user) => <Person user={user} /> },
    { header: 'Account', cell: ({ account }) => account.name },
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
      cell: (user) => <UserMenu user={user} onEdit={edit.mutate} onEndSessions={endSessions.mutate} />,
    },
  ]
  return (
    <>
      <Refusals of={[edit, endSessions]} />
      <DataTable
        label="Users"
        columns={columns}
        list={list}
        rowKey={({ id }) => id}
        muted={({ disabled }) => disabled}
        empty={<EmptyMessage icon={IconUsers} title="No users" />}
      />
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

/** The actions on a user. */
interface UserMenuProps {
  readonly user: User
  readonly onEdit: (change: { readonly id: string; readonly role?: User['role']; readonly disabled?: boolean }) => void
  readonly onEndSessions: (user: { readonly id: string }) => void
}

function UserMenu({ user: { id, name, role, disabled }, onEdit, onEndSessions }: UserMenuProps) {
  const own = useSignedIn().user.id === id
  if (own) return null
  return (
    <Menu>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label={`Actions for ${name}`}>
          <IconDots size={17} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => onEdit({ id, role: role === 'admin' ? 'member' : 'admin' })}>
          {role === 'admin' ? 'Make a member' : 'Make an admin'}
        </Menu.Item>
        <Menu.Item onClick={() => onEndSessions({ id })}>Sign out everywhere</Menu.Item>
        <Menu.Divider />
        <Menu.Item color={disabled ? undefined : 'red'} onClick={() => onEdit({ id, disabled: !disabled })}>
          {disabled ? 'Enable' : 'Disable'}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
