import { useEffect, useState } from 'react'
import { useLocation } from 'react-router'

/**
 * The token of a one-time link: all that stands after the `#`, which browsers never send, so that no log of any server has it. It is
 * taken out of the address at once, and lives in the page's memory only.
 */
export function useLinkToken(): string {
  const { hash } = useLocation()
  const [token] = useState(() => hash.slice(1))
  useEffect(() => {
    if (hash !== '') window.history.replaceState(window.history.state, '', window.location.pathname)
  }, [hash])
  return token
}
