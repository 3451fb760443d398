import { IconLock } from '@tabler/icons-react'
import { Outlet } from 'react-router'
import { useSignedIn } from '../api/session.ts'
import { EmptyMessage } from '../ui/empty-message.tsx'
import { Page } from '../ui/page.tsx'

/** Around pages for admins: tells a member so, who followed a link. The gateway itself refuses what they load. */
export function AdminsOnly() {
  const { user } = useSignedIn()
  if (user.role === 'admin') return <Outlet />
  return (
    <Page title="Admins only">
      <EmptyMessage icon={IconLock} title="This page is for admins">
        Ask an admin of this gateway for help, or for the admin role.
      </EmptyMessage>
    </Page>
  )
}
