import type { LinkedList } from '../async/event-loop.ts'
import type { Exchange } from './exchange.ts'

/** How often new calls are noted, and how old they are then at least, in milliseconds: the shortest never are. */
const NOTE_MS = 50
/** How often all calls under way are looked at: some are sent late, and each is noted again after a while. In milliseconds. */
const ALL_MS = 250

/**
 * Notes in the journal what calls under way would cost if this process were killed: a stream that a kill cuts has a row too. Returns what ends
 * this.
 */
export function noteOpenCalls(open: LinkedList<Exchange>): () => void {
  let last = 0
  const noteNew = (): void => {
    const now = performance.now()
    // The newest first, until those that were old enough the last time.
    for (const call of open) {
      const { startedAt } = call.times
      if (last - startedAt >= NOTE_MS) break
      if (now - startedAt >= NOTE_MS) call.noteAttempt(now)
    }
    last = now
  }
  const noteAll = (): void => {
    const now = performance.now()
    for (let call = open.first; call !== undefined && now - call.times.startedAt >= NOTE_MS; call = call.next)
      call.noteAttempt(now)
  }
  const timers = [setInterval(noteNew, NOTE_MS).unref(), setInterval(noteAll, ALL_MS).unref()]
  return () => timers.forEach(clearInterval)
}
