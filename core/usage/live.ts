import { setTimeout as delay } from 'node:timers/promises'
import type { CallsTable } from '../store/schema.ts'
import type { CallRecorder } from './recorder.ts'

/** Calls that have ended since the previous batch. */
interface LiveCalls {
  readonly calls: readonly CallsTable[]
  /** Calls that were dropped because the reader is too slow. */
  readonly missed: number
}

/** Calls buffered for a slow reader. */
const MAX_BUFFERED = 1000
/** After so long an empty batch keeps the connection open: proxies close one that is silent for a minute. */
const HEARTBEAT_MS = 15_000

/** Yields the calls of this gateway as they end, of one account or of all; an empty batch as a heartbeat. Ends by `signal`. */
export async function* liveCalls(
  recorder: CallRecorder,
  { account, signal }: { readonly account: string | undefined; readonly signal: AbortSignal },
): AsyncGenerator<LiveCalls> {
  let buffered: CallsTable[] = []
  let missed = 0
  let arrived = Promise.withResolvers<void>()
  const stopListening = recorder.listen((call) => {
    if (account !== undefined && call.account_id !== account) return
    if (buffered.length < MAX_BUFFERED) buffered.push(call)
    else missed += 1
    arrived.resolve()
  })
  try {
    while (!signal.aborted) {
      const batch = { calls: buffered, missed }
      buffered = []
      missed = 0
      arrived = Promise.withResolvers()
      yield batch
      const heartbeat = new AbortController()
      const ended = AbortSignal.any([signal, heartbeat.signal])
      await Promise.race([arrived.promise, delay(HEARTBEAT_MS, undefined, { ref: false, signal: ended })]).catch(() => undefined)
      heartbeat.abort()
    }
  } finally {
    stopListening()
  }
}
