import { Alert, Anchor } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import { Link, useLocation } from 'react-router'
import { useConfigState } from '../api/operations.ts'
import { useSignedIn } from '../api/session.ts'
import { TimeAgo } from '../ui/time-ago.tsx'

/** Warns admins on every page that the changed routes.yaml was rejected. */
export function ReloadBanner() {
  const { user } = useSignedIn()
  const { pathname } = useLocation()
  const { data } = useConfigState({ enabled: user.role === 'admin' })
  const reload = data?.last_reload
  if (reload == null || reload.ok || pathname === '/config') return null
  return (
    <Alert color="orange" icon={<IconAlertTriangle size={18} />} mb="lg" maw={1280} mx="auto">
      The last change to {data?.file} was rejected <TimeAgo at={reload.at} />; the previous configuration stays in use.{' '}
      <Anchor component={Link} to="/config" size="sm" underline="always">
        Show the errors
      </Anchor>
    </Alert>
  )
}
