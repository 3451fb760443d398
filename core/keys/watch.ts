import type { Store } from '../store/database.ts'

/** A revocation by another process holds within a second: four chances to see it. */
const POLL_MS = 250

/** Five minutes in which the store could not say whether a key was revoked. */
const MAX_FAILED_POLLS = 1200

/** What to do about what is remembered of the store's keys. */
export interface Watcher {
  /** Somebody elsewhere changed something: it must be asked for again, if that can be. */
  doubt(): void
  /** This process changed it, or the store has failed for so long that nothing of it can be trusted. */
  forget(): void
}

/** Watches a store's keys until the returned function is called. */
export function watchKeys(store: Store, { doubt, forget }: Watcher): () => void {
  let failedPolls = 0
  const poll = () => {
    try {
      if (store.changed()) doubt()
      failedPolls = 0
    } catch {
      failedPolls += 1
      // Keys in use outlive a short failure; each look-up meanwhile says `storage_unavailable`.
      if (failedPolls >= MAX_FAILED_POLLS) forget()
    }
  }
  const timer = setInterval(poll, POLL_MS).unref()
  store.events.on('keys', forget)
  return () => {
    clearInterval(timer)
    store.events.off('keys', forget)
  }
}
