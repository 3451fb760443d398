import { useWindowEvent } from '@mantine/hooks'
import { useEffect } from 'react'
import { useBlocker } from 'react-router'

/** While `active`, blocks navigation within the console, and asks before the page is closed. */
export function useLeaveGuard(active: boolean): void {
  const blocker = useBlocker(active)
  useEffect(() => {
    if (blocker.state === 'blocked') blocker.reset()
  }, [blocker])
  useWindowEvent('beforeunload', (event) => {
    if (active) event.preventDefault()
  })
}
