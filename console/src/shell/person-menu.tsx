import {
  Avatar,
  Group,
  type MantineColorScheme,
  Menu,
  SegmentedControl,
  Text,
  UnstyledButton,
  useMantineColorScheme,
} from '@mantine/core'
import { IconLogout, IconSelector, IconUser } from '@tabler/icons-react'
import { Link } from 'react-router'
import { useSignedIn, useSignOut } from '../api/session.ts'
import { endHeldKey } from '../pages/playground/key-memory.ts'
import styles from './person-menu.module.css'

const SCHEMES = [
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
  { value: 'auto', label: 'System' },
]

/** The user's menu: the profile, the color scheme, and signing out. */
export function PersonMenu() {
  const { user, account } = useSignedIn()
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const signOut = useSignOut()
  return (
    <Menu position="top-start" width={220}>
      <Menu.Target>
        <UnstyledButton className={styles.person}>
          <Group gap={10} wrap="nowrap">
            <Avatar size={30} radius="xl" name={user.name} color="cobalt" aria-hidden="true" />
            <span className={styles.words}>
              <Text size="sm" fw={500} truncate>
                {user.name}
              </Text>
              <Text size="xs" c="dimmed" truncate>
                {account.name}
                {user.role === 'admin' && ' · admin'}
              </Text>
            </span>
            <IconSelector size={16} aria-hidden="true" />
          </Group>
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{user.email}</Menu.Label>
        <Menu.Item component={Link} to="/profile" leftSection={<IconUser size={16} />}>
          Your profile
        </Menu.Item>
        <Menu.Divider />
        <SegmentedControl
          fullWidth
          size="xs"
          data={SCHEMES}
          value={colorScheme}
          onChange={(value) => setColorScheme(value as MantineColorScheme)}
          aria-label="Color scheme"
        />
        <Menu.Divider />
        <Menu.Item leftSection={<IconLogout size={16} />} onClick={() => void endHeldKey().then(() => signOut.mutate({}))}>
          Sign out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
