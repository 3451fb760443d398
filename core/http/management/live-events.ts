import type { Store } from '../../store/database.ts'
import { viewCalls } from '../../usage/call-view.ts'
import { liveCalls } from '../../usage/live.ts'
import type { CallRecorder } from '../../usage/recorder.ts'

/** Where live calls come from. */
export interface LiveSource {
  readonly store: Store
  readonly recorder: CallRecorder
}

/**
 * Calls as server-sent events, each as it ends; a comment while there are none. `missed` tells how many a slow reader was not told
 * of. It ends when the reader leaves, and when the gateway does.
 */
export async function* liveEvents(
  { store, recorder }: LiveSource,
  { account, signal }: { readonly account: string | undefined; readonly signal: AbortSignal },
): AsyncGenerator<string> {
  const until = AbortSignal.any([signal, recorder.ending])
  for await (const { calls, missed } of liveCalls(recorder, { account, signal: until })) {
    const events = (await viewCalls(store, calls)).map((call) => `data: ${JSON.stringify(call)}\n\n`)
    if (missed > 0) events.push(`event: missed\ndata: {"calls":${missed}}\n\n`)
    yield events.length === 0 ? ': nothing new\n\n' : events.join('')
  }
}
