import { useWindowEvent } from '@mantine/hooks'
import { useEffect } from 'react'
import { useBlocker } from 'react-router'

/** While `stay`, neither the browser's Back nor a link leads away, and closing the page asks first. */
export function useLeaveGuard(stay: boolean): void {
  const blocker = useBlocker(stay)
  useEffect(() => {
    if (blocker.state === 'blocked') blocker.reset()
  }, [blocker])
  useWindowEvent('beforeunload', (event) => {
    if (stay) event.preventDefault()
  })
}
