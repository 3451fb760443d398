import type { Store } from '../store/database.ts'

/** How exactly it is known when a key was last used. */
export const WRITTEN_MS = 60_000
/** Keys per statement: thousands at once would hold up the streams for as long. */
const BATCH = 500

/** Notes when keys are used, and writes it down about once a minute, off the path of the calls. */
export interface UseRecorder {
  note(keyId: string): void
  /** Writes down what is left. */
  close(): Promise<void>
}

/** Where the store fails, the note is kept for the next time; nothing of a call depends on it. */
export function recordUse(store: Store): UseRecorder {
  let used = new Set<string>()

  async function write(): Promise<void> {
    const ids = [...used]
    used = new Set()
    const last_used_at = Date.now()
    while (ids.length > 0) {
      const batch = ids.slice(0, BATCH)
      try {
        await store.db.updateTable('keys').set({ last_used_at }).where('id', 'in', batch).execute()
      } catch {
        used = new Set([...ids, ...used])
        return
      }
      ids.splice(0, BATCH)
    }
  }

  const timer = setInterval(write, WRITTEN_MS).unref()
  return {
    note: (keyId) => void used.add(keyId),
    async close() {
      clearInterval(timer)
      await write()
    },
  }
}
