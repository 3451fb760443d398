import { Button, Tabs } from '@mantine/core'
import { IconPlus, IconUserPlus } from '@tabler/icons-react'
import { Page } from '../../ui/page.tsx'
import { useFilters } from '../../ui/use-filters.ts'
import { AccountsTab } from './accounts-tab.tsx'
import { InvitationsTab } from './invitations-tab.tsx'
import { UsersTab } from './users-tab.tsx'

/** Accounts, users and invitations. */
export function AccountsPage() {
  const [{ tab, new: creating }, setFilters] = useFilters({ tab: 'accounts', new: '', q: '' })
  const dialog = { creating: creating !== '', onClose: () => setFilters({ new: '' }) }
  return (
    <Page
      title="Accounts & users"
      about="An account owns API keys and limits them. Each user belongs to one account and joins by invitation."
      actions={
        tab === 'accounts' ? (
          <Button leftSection={<IconPlus size={16} />} onClick={() => setFilters({ new: '1' })}>
            Create account
          </Button>
        ) : (
          <Button leftSection={<IconUserPlus size={16} />} onClick={() => setFilters({ tab: 'invitations', new: '1' })}>
            Invite a user
          </Button>
        )
      }
    >
      <Tabs value={tab} onChange={(next) => setFilters({ tab: next ?? 'accounts', new: '', q: '' })} keepMounted={false}>
        <Tabs.List mb="md">
          <Tabs.Tab value="accounts">Accounts</Tabs.Tab>
          <Tabs.Tab value="users">Users</Tabs.Tab>
          <Tabs.Tab value="invitations">Invitations</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="accounts">
          <AccountsTab {...dialog} />
        </Tabs.Panel>
        <Tabs.Panel value="users">
          <UsersTab />
        </Tabs.Panel>
        <Tabs.Panel value="invitations">
          <InvitationsTab {...dialog} />
        </Tabs.Panel>
      </Tabs>
    </Page>
  )
}
