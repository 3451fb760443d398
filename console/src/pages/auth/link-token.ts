import { useEffect, useState } from 'react'
import { useLocation } from 'react-router'

/**
 * The token of a one-time link: its fragment, which browsers never send, so that no server's log contains it. It is removed from the
 * address bar at once, and kept in the page's memory only.
 */
export function useLinkToken(): string {
  const { hash } = useLocation()
  const [token] = useState(() => hash.slice(1))
  useEffect(() => {
    if (hash !== '') window.history.replaceState(window.history.state, '', window.location.pathname)
  }, [hash])
  return token
}
