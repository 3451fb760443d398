import { useSyncExternalStore } from 'react'

const TICK_MS = 15_000

const listeners = new Set<() => void>()
let now = Date.now()
let timer: number | undefined

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  timer ??= window.setInterval(tick, TICK_MS)
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    window.clearInterval(timer)
    timer = undefined
  }
}

function tick(): void {
  now = Date.now()
  for (const listener of listeners) listener()
}

/** The current time in milliseconds since 1970, updated every 15 s by one timer for the whole page. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => now)
}
