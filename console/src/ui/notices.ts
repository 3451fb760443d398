import { useSyncExternalStore } from 'react'

/** A message about a change that was made. */
export interface Notice {
  readonly text: string
  /** Reverses the change; absent: it cannot be undone, or not by one click. */
  readonly undo?: () => void
}

/** How long a message is shown; one with an undo stays until it is closed. */
const SHOWN_MS = 8_000

const listeners = new Set<() => void>()
let shown: Notice | undefined
let timer: number | undefined

function set(next: Notice | undefined): void {
  shown = next
  window.clearTimeout(timer)
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Shows a message in place of the previous one. */
export function notify(notice: Notice): void {
  set(notice)
  if (notice.undo === undefined) timer = window.setTimeout(() => set(undefined), SHOWN_MS)
}

/** Closes the message. */
export const closeNotice = (): void => set(undefined)

/** The message to show. */
export const useNotice = (): Notice | undefined => useSyncExternalStore(subscribe, () => shown)
