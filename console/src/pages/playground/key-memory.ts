import { useSyncExternalStore } from 'react'
import { send } from '../../api/http.ts'

/** The key of the playground. */
export interface HeldKey {
  readonly secret: string
  /** The user who chose it: another user who signs in on this page does not get it. */
  readonly userId: string
  /** A key that this page created; absent for a pasted key. */
  readonly made?: { readonly id: string; readonly masked: string; readonly expiresAt: number }
}

// In the page's memory only: reloading discards it.
let held: HeldKey | undefined
let timer: number | undefined
const listeners = new Set<() => void>()

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Sets or clears the key. A key that this page created is forgotten when it expires, and revoked when the page is closed. */
export function holdKey(key: HeldKey | undefined): void {
  held = key
  window.clearTimeout(timer)
  window.removeEventListener('pagehide', onPageHide)
  if (key?.made !== undefined) {
    timer = window.setTimeout(() => holdKey(undefined), key.made.expiresAt - Date.now())
    window.addEventListener('pagehide', onPageHide)
  }
  for (const listener of listeners) listener()
}

/** Revokes the key that this page created, if there is one. A failure is left to the key's expiry. */
export async function endHeldKey(): Promise<void> {
  const id = held?.made?.id
  holdKey(undefined)
  if (id !== undefined) await send('post', '/keys/{id}/revoke', { id, keepalive: true }).catch(() => undefined)
}

/** A page that the browser keeps may be shown again, with its key. */
function onPageHide({ persisted }: PageTransitionEvent): void {
  if (!persisted) void endHeldKey()
}

/** The key of a user. */
export function useHeldKey(userId: string): HeldKey | undefined {
  const key = useSyncExternalStore(subscribe, () => held)
  return key?.userId === userId ? key : undefined
}
