import { once } from 'node:events'
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises'
import type { LocalReply } from 'unified-model-gateway/plugin'

/** The timing and the faults of a reply. */
export interface Pacing {
  /** Milliseconds before the first frame. */
  readonly delay?: number
  /** Milliseconds between two frames. */
  readonly interval?: number
  /** The connection breaks after this number of frames. */
  readonly cut?: number
  /** The reply stalls after this number of frames. */
  readonly stall?: number
}

/** A reply before it is sent. */
export interface PacedReply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly frames: Iterable<string | Buffer>
  readonly pacing: Pacing
}

/** The reply as core reads it, with its pacing. */
export function play({ status, headers, frames, pacing }: PacedReply, signal: AbortSignal): LocalReply {
  return { status, headers, body: pace(frames, pacing, signal) }
}

/** After this number of characters or bytes the event loop continues with other calls. */
const BATCH = 16 * 1024

/** Every wait ends when the signal aborts, with its reason; none leaves a timer. */
async function* pace(
  frames: Iterable<string | Buffer>,
  { delay, interval, cut, stall }: Pacing,
  signal: AbortSignal,
): AsyncGenerator<string | Buffer> {
  if (delay !== undefined) await pause(delay, signal)
  let sent = 0
  let batch = 0
  for (const frame of frames) {
    if (sent === cut) throw new Error('the sandbox cut the connection, as requested')
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
