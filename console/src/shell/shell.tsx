import { AppShell, Burger, Group } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useEffect, useEffectEvent } from 'react'
import { Outlet, ScrollRestoration, useLocation } from 'react-router'
import { PAGE } from '../ui/use-focus-return.ts'
import { Brand } from './brand.tsx'
import { JumpList } from './jump-list.tsx'
import { NoticeBar } from './notice-bar.tsx'
import { ReloadBanner } from './reload-banner.tsx'
import styles from './shell.module.css'
import { Sidebar } from './sidebar.tsx'
import { useKeptFocus } from './use-kept-focus.ts'

/** The frame of every page for signed-in users: the navigation and the banner. */
export function Shell() {
  const [open, { toggle, close }] = useDisclosure()
  const { pathname } = useLocation()
  useKeptFocus(pathname)
  // On a phone or a tablet the navigation covers the page: it closes after a page was chosen.
  const showPage = useEffectEvent(() => {
    if (!open) return
    close()
    document.getElementById(PAGE)?.focus({ preventScroll: true })
  })
  useEffect(showPage, [pathname])
  return (
    <AppShell
      header={{ height: { base: 52, md: 0 } }}
      navbar={{ width: 232, breakpoint: 'md', collapsed: { mobile: !open } }}
      padding={{ base: 'md', md: 'xl' }}
    >
      <a className={styles.skip} href={`#${PAGE}`}>
        Skip to content
      </a>
      <AppShell.Header hiddenFrom="md">
        <Group h="100%" px="md" justify="space-between">
          <Brand />
          <Burger opened={open} onClick={toggle} size="sm" aria-label={open ? 'Close navigation' : 'Open navigation'} />
        </Group>
      </AppShell.Header>
      <AppShell.Navbar className={styles.navbar} data-open={open || undefined}>
        <Sidebar />
      </AppShell.Navbar>
      <AppShell.Main id={PAGE} tabIndex={-1} className={styles.main}>
        <ReloadBanner />
        <Outlet />
      </AppShell.Main>
      <NoticeBar />
      <JumpList />
      <ScrollRestoration />
    </AppShell>
  )
}
