import type { LinkedList } from '../async/event-loop.ts'
import type { Exchange } from './exchange.ts'

/** How often calls under way are noted, and how old they are then at least: most calls never are. In milliseconds. */
const NOTE_MS = 250

/**
 * Notes in the journal what calls under way would cost if this process were killed: a stream that a kill cuts has a row too. Returns what ends
 * this.
 */
export function noteOpenCalls(open: Pick<LinkedList<Exchange>, 'first'>): () => void {
  const timer = setInterval(() => {
    const now = performance.now()
    // The oldest first.
    for (let call = open.first; call !== undefined && now - call.times.startedAt >= NOTE_MS; call = call.next)
      call.noteAttempt(now)
  }, NOTE_MS).unref()
  return () => clearInterval(timer)
}
