import { useSyncExternalStore } from 'react'

/** The key of the playground. */
export interface HeldKey {
  readonly secret: string
  /** The user who chose it: another user who signs in on this page does not get it. */
  readonly userId: string
  /** The id of a key that this page created; absent for a pasted key. */
  readonly made?: string
}

// In the page's memory only: reloading discards it.
let held: HeldKey | undefined
const listeners = new Set<() => void>()

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Sets or clears the key. */
export function holdKey(key: HeldKey | undefined): void {
  held = key
  for (const listener of listeners) listener()
}

/** The key of a user. */
export function useHeldKey(userId: string): HeldKey | undefined {
  const key = useSyncExternalStore(subscribe, () => held)
  return key?.userId === userId ? key : undefined
}
