import { once } from 'node:events'
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises'
import type { Directives } from './directives.ts'

/** After so many characters all other calls get their turn. */
const BATCH = 16 * 1024

/**
 * Gives the frames of a reply in the time, and with the faults, that the directives ask for. Every wait ends when the signal aborts,
 * with its reason; none leaves a timer behind.
 */
export async function* pace(
  frames: Iterable<string>,
  { delay, interval, cut, stall }: Directives,
  signal: AbortSignal,
): AsyncGenerator<string> {
  if (delay !== undefined) await pause(delay, signal)
  let sent = 0
  let batch = 0
  for (const frame of frames) {
    if (sent === cut) throw new Error('the sandbox cut the connection, as it was asked to')
    if (sent === stall) await aborted(signal)
    if (sent > 0 && interval !== undefined) await pause(interval, signal)
    yield frame
    sent++
    batch += frame.length
    if (batch >= BATCH) {
      batch = 0
      await nextTurn()
    }
    signal.throwIfAborted()
  }
}

async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  await wait(milliseconds, undefined, { signal }).catch(() => signal.throwIfAborted())
}

async function aborted(signal: AbortSignal): Promise<never> {
  if (!signal.aborted) await once(signal, 'abort')
  throw signal.reason
}
