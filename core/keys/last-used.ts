import type { Store } from '../store/database.ts'

/** The time of last use is written at most this often. */
export const LAST_USED_RESOLUTION_MS = 60_000
/** Keys per statement: SQLite runs in this thread, and thousands at once would delay streams. */
const BATCH = 500

/** Records which keys are used, and writes the time about once a minute, off the path of calls. */
export interface UseRecorder {
  note(keyId: string): void
  /** Writes what is not written yet. */
  close(): Promise<void>
}

/** If the store fails, the uses are written the next time; no call depends on it. */
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

  const timer = setInterval(write, LAST_USED_RESOLUTION_MS).unref()
  return {
    note: (keyId) => void used.add(keyId),
    async close() {
      clearInterval(timer)
      await write()
    },
  }
}
