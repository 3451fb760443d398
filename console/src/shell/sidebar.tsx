import { AppShell, Box, Kbd, NavLink, ScrollArea, Text, UnstyledButton } from '@mantine/core'
import { useOs } from '@mantine/hooks'
import { IconSearch } from '@tabler/icons-react'
import { Link, useLocation } from 'react-router'
import { useSignedIn } from '../api/session.ts'
import { Brand } from './brand.tsx'
import { openJumpList } from './jump-list-state.ts'
import { sectionsFor } from './navigation.ts'
import { PersonMenu } from './person-menu.tsx'
import styles from './sidebar.module.css'

/** The navigation: the pages of the user's role, and the user's menu. */
export function Sidebar() {
  const { user } = useSignedIn()
  const { pathname } = useLocation()
  const mac = useOs() === 'macos'
  return (
    <>
      <AppShell.Section p="md" pb="xs" visibleFrom="md">
        <Brand />
      </AppShell.Section>
      <AppShell.Section px="sm" py="xs">
        <UnstyledButton className={styles.jump} onClick={openJumpList}>
          <IconSearch size={15} aria-hidden="true" />
          <span className={styles.jumpWords}>Jump to…</span>
          <Kbd size="xs">{mac ? '⌘ K' : 'Ctrl K'}</Kbd>
        </UnstyledButton>
      </AppShell.Section>
      <AppShell.Section grow component={ScrollArea} px="sm" viewportProps={{ tabIndex: -1 }}>
        <nav aria-label="Pages">
          {sectionsFor(user.role).map(({ name, pages }) => (
            <Box key={name} mt="sm">
              <Text size="xs" fw={500} c="dimmed" px={10} mb={4} component="h2">
                {name}
              </Text>
              {pages.map(({ path, name: page, icon: Icon }) => (
                <NavLink
                  key={path}
                  component={Link}
                  to={path}
                  label={page}
                  className={styles.link}
                  leftSection={<Icon size={17} stroke={1.7} />}
                  active={pathname === path || pathname.startsWith(`${path}/`)}
                  aria-current={pathname === path ? 'page' : undefined}
                />
              ))}
            </Box>
          ))}
        </nav>
      </AppShell.Section>
      <AppShell.Section p="sm" className={styles.person}>
        <PersonMenu />
      </AppShell.Section>
    </>
  )
}
