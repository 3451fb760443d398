import { ActionIcon, Menu } from '@mantine/core'
import { IconDots, IconPencil, IconRefresh, IconTrash } from '@tabler/icons-react'
import { type ApiKey, isDeclared } from '../../api/keys.ts'
import { DeclaredLock } from '../../ui/declared-lock.tsx'

/** The actions on a key. */
export interface KeyMenuProps {
  readonly apiKey: ApiKey
  readonly onEdit: (key: ApiKey) => void
  readonly onRotate: (key: ApiKey) => void
  readonly onRevoke: (key: ApiKey) => void
}

/** The menu of a key. For a key that is declared in routes.yaml, a lock with its line. */
export function KeyMenu({ apiKey, onEdit, onRotate, onRevoke }: KeyMenuProps) {
  if (isDeclared(apiKey)) return <DeclaredLock source={apiKey.source} />
  if (apiKey.status === 'revoked') return null
  return (
    <Menu>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label={`Actions for ${apiKey.name}`}>
          <IconDots size={17} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item leftSection={<IconPencil size={16} />} onClick={() => onEdit(apiKey)}>
          Edit
        </Menu.Item>
        {apiKey.status === 'active' && (
          <Menu.Item leftSection={<IconRefresh size={16} />} onClick={() => onRotate(apiKey)}>
            Rotate
          </Menu.Item>
        )}
        <Menu.Divider />
        <Menu.Item color="red" leftSection={<IconTrash size={16} />} onClick={() => onRevoke(apiKey)}>
          Revoke
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
