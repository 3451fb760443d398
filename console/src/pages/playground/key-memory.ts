import { useSyncExternalStore } from 'react'

/** A secret that the playground calls with. */
export interface HeldKey {
  readonly secret: string
  /** Whose it is: somebody else who signs in on this page does not get it. */
  readonly userId: string
  /** The id of a key that this page has made, for an hour; absent: it was pasted. */
  readonly made?: string
}

// In the memory of the page and nowhere else: a reload forgets it.
let held: HeldKey | undefined
const listeners = new Set<() => void>()

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Keeps a key, or forgets it. */
export function holdKey(key: HeldKey | undefined): void {
  held = key
  for (const tell of listeners) tell()
}

/** The key that is held for a user. */
export function useHeldKey(userId: string): HeldKey | undefined {
  const key = useSyncExternalStore(subscribe, () => held)
  return key?.userId === userId ? key : undefined
}
