import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from '../observe/log.ts'
import type { CallWriter } from './call-writer.ts'

/** How long what is kept, in milliseconds. */
export interface Keep {
  /** Calls, and what they add up to by the hour. */
  readonly requests: number
  /** What they add up to by the day. */
  readonly usage: number
}

const DAY_MS = 86_400_000

/** What is kept unless told otherwise: a month of calls, and a little more than a year of sums. */
export const KEEP: Keep = { requests: 30 * DAY_MS, usage: 400 * DAY_MS }

const SWEEP_EVERY_MS = 600_000
/** Between two slices: what the gateway writes meanwhile waits for one of them only. */
const PAUSE_MS = 50

/** Removes what need not be kept any longer, now and again and again. Returns a function that ends it. */
export function keepWithin(keep: Keep, { writer, log }: { readonly writer: CallWriter; readonly log: Logger }): () => void {
  const over = new AbortController()
  const pause = (ms: number) => delay(ms, undefined, { ref: false, signal: over.signal })

  async function sweep(): Promise<void> {
    const now = Date.now()
    while (await writer.remove({ calls: now - keep.requests, days: now - keep.usage })) await pause(PAUSE_MS)
  }

  async function sweepForEver(): Promise<never> {
    for (;;) {
      await sweep().catch((err: unknown) => {
        if (!over.signal.aborted) log.warn({ err }, 'old calls could not be removed')
      })
      await pause(SWEEP_EVERY_MS)
    }
  }

  // It ends by the pause that is broken off.
  sweepForEver().catch(() => undefined)
  return () => over.abort()
}
