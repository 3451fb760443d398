import { IconLock } from '@tabler/icons-react'
import { Outlet } from 'react-router'
import { useSignedIn } from '../api/session.ts'
import { EmptyMessage } from '../ui/empty-message.tsx'
import { Page } from '../ui/page.tsx'

/** Shows pages for admins to admins only. The gateway itself refuses their requests to members. */
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
