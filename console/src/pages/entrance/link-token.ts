import { useEffect, useState } from 'react'
import { useLocation } from 'react-router'

/**
 * The token of a one-time link, which stands after the `#`: browsers never send that part, so no log of any server has it. It is
 * taken out of the address at once, and lives in the page's memory only.
 */
export function useLinkToken(): string {
  const { hash } = useLocation()
  const [token] = useState(() => new URLSearchParams(hash.slice(1)).get('token') ?? hash.slice(1))
  useEffect(() => {
    if (hash !== '') window.history.replaceState(window.history.state, '', window.location.pathname)
  }, [hash])
  return token
}
