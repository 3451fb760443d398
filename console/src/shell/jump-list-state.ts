import { useSyncExternalStore } from 'react'

const listeners = new Set<() => void>()
let open = false

function set(next: boolean): void {
  open = next
  for (const tell of listeners) tell()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Opens the list of pages to jump to. */
export const openJumpList = (): void => set(true)

/** Closes it. */
export const closeJumpList = (): void => set(false)

/** Whether it is open. */
export const useJumpListOpen = (): boolean => useSyncExternalStore(subscribe, () => open)
