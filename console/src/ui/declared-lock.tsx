import { ActionIcon, ThemeIcon, Tooltip } from '@mantine/core'
import { IconLock } from '@tabler/icons-react'
import { Link } from 'react-router'
import { useSignedIn } from '../api/session.ts'

/** In place of the actions on an object that routes.yaml declares: a lock with its line, which admins can open. */
export function DeclaredLock({ source }: { readonly source: string }) {
  const { user } = useSignedIn()
  const words = `Declared in ${source}`
  const line = source.split(':').at(-1)
  return (
    <Tooltip label={words}>
      {user.role === 'admin' ? (
        <ActionIcon component={Link} to={`/config?line=${line}`} variant="subtle" color="gray" aria-label={words}>
          <IconLock size={17} />
        </ActionIcon>
      ) : (
        <ThemeIcon variant="transparent" color="gray" role="img" aria-label={words}>
          <IconLock size={17} />
        </ThemeIcon>
      )}
    </Tooltip>
  )
}
