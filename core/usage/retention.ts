import { setTimeout as delay } from 'node:timers/promises'
import type { Log } from '../observe/log.ts'
import type { CallWriter } from './call-writer.ts'

/** How long rows are kept, in milliseconds. */
export interface Retention {
  /** Calls, and their totals by the hour. */
  readonly requests: number
  /** Totals by the day. */
  readonly usage: number
}

const DAY_MS = 86_400_000

/** The default: a month of calls, and a little more than a year of totals. */
export const DEFAULT_RETENTION: Retention = { requests: 30 * DAY_MS, usage: 400 * DAY_MS }

const INTERVAL_MS = 600_000
/** Pause between two deletes, so that new usage rows wait for one delete only. */
const PAUSE_MS = 50

/** Removes expired rows now and every ten minutes. Returns a function that ends it. */
export function startRetention(
  retention: Retention,
  { writer, log }: { readonly writer: CallWriter; readonly log: Log },
): () => void {
  const ending = new AbortController()
  const pause = (ms: number) => delay(ms, undefined, { ref: false, signal: ending.signal })

  async function removeExpired(): Promise<void> {
    const now = Date.now()
    while (await writer.remove({ calls: now - retention.requests, days: now - retention.usage })) await pause(PAUSE_MS)
  }

  async function run(): Promise<never> {
    for (;;) {
      await removeExpired().catch((err: unknown) => {
        if (!ending.signal.aborted) log.warn({ err }, 'cannot remove expired usage rows')
      })
      await pause(INTERVAL_MS)
    }
  }

  // The abort rejects the pause, which ends the loop.
  run().catch(() => undefined)
  return () => ending.abort()
}
