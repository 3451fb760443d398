import { WatchedList } from '../async/event-loop.ts'
import type { Exchange } from './exchange.ts'

/**
 * The calls under way. Their journal gets what they would cost if this process were killed: a stream that a kill cuts has a row too. The shortest
 * never are noted; some are sent late, and each is noted again after a while.
 */
export const journaledCalls = (): WatchedList<Exchange> =>
  new WatchedList({
    newAfter: 50,
    allEvery: 250,
    since: ({ times }) => times.startedAt,
    look: (call, now) => call.noteAttempt(now),
  })
