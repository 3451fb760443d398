import { IconLock } from '@tabler/icons-react'
import { Outlet } from 'react-router'
import { useSignedIn } from '../api/session.ts'
import { Nothing } from '../ui/nothing.tsx'
import { Page } from '../ui/page.tsx'

/** Around pages for admins: tells a member so, who followed a link. The gateway itself refuses what they load. */
export function AdminsOnly() {
  const { user } = useSignedIn()
  if (user.role === 'admin') return <Outlet />
  return (
    <Page title="For admins">
      <Nothing icon={IconLock} title="This page is for admins">
        Ask an admin of this gateway for what you need, or for the role.
      </Nothing>
    </Page>
  )
}
