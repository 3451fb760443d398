import { setTimeout as delay } from 'node:timers/promises'
import type { CallsTable } from '../store/schema.ts'
import type { CallRecorder } from './recorder.ts'

/** Calls that have ended since the last look. */
export interface LiveCalls {
  readonly calls: readonly CallsTable[]
  /** How many more there were than a slow reader is kept. */
  readonly missed: number
}

/** Who reads slowly is kept so many calls. */
const MOST_KEPT = 1000
/** With nothing to tell: proxies close connections that are silent for a minute. */
const SILENCE_MS = 15_000

/** Calls of this gateway as they end, of one account or of all; nothing at all, now and then, while there are none. Ends by `signal`. */
export async function* liveCalls(
  recorder: CallRecorder,
  { account, signal }: { readonly account: string | undefined; readonly signal: AbortSignal },
): AsyncGenerator<LiveCalls> {
  let kept: CallsTable[] = []
  let missed = 0
  let news = Promise.withResolvers<void>()
  const leave = recorder.listen((call) => {
    if (account !== undefined && call.account_id !== account) return
    if (kept.length < MOST_KEPT) kept.push(call)
    else missed += 1
    news.resolve()
  })
  try {
    while (!signal.aborted) {
      const told = { calls: kept, missed }
      kept = []
      missed = 0
      news = Promise.withResolvers()
      yield told
      const silence = new AbortController()
      const over = AbortSignal.any([signal, silence.signal])
      await Promise.race([news.promise, delay(SILENCE_MS, undefined, { ref: false, signal: over })]).catch(() => undefined)
      silence.abort()
    }
  } finally {
    leave()
  }
}
