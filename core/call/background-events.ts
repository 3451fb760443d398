import { setTimeout as delay } from 'node:timers/promises'
import { unlessAborted } from '../async/abort.ts'
import { asGatewayError, GatewayError } from '../errors.ts'
import type { BackgroundResponses } from '../kept/background-responses.ts'
import { responseFrame } from '../protocol/responses/background.ts'
import { type EventLog, untilReached } from './event-log.ts'
import type { Exchange } from './exchange.ts'
import { relayFrames } from './relay-frames.ts'

/** How often the store is asked for events that another process makes, in milliseconds. */
const POLL_MS = 250

/** Which events a client reads. */
export interface EventsOptions {
  readonly id: string
  /** The number of the last event that it has; -1 if it has none. */
  readonly after: number
  readonly responses: BackgroundResponses
  /** The calls that run in this process. */
  readonly calls: { logOf(id: string): EventLog | undefined }
}

/** Sends the events of a background response as a stream: those that are kept, then those that are made, until the response has ended. */
export function sendEvents(exchange: Exchange, options: EventsOptions): void {
  const relay = exchange.openStream()
  relayFrames(relay, exchange.signal, eventsOf(options, exchange.signal)).catch((thrown: unknown) => {
    const error = asGatewayError(thrown)
    // A call in the background goes on, whatever befalls those who read its events.
    if (exchange.detached !== undefined && relay.opened) relay.fail(error)
    else exchange.fail(error)
  })
}

/** The frames of the events, whichever process makes them. They end as the response did. */
async function* eventsOf({ id, after, responses, calls }: EventsOptions, signal: AbortSignal): AsyncGenerator<string> {
  let next = after + 1
  let part = 0
  for (;;) {
    const log = calls.logOf(id)
    const live = log?.from(next)
    if (log !== undefined && live !== undefined) {
      // Those before are in these.
      part = log.parts
      const { changed } = log
      for (const [, frame] of live) yield frame
      next += live.length
      if (live.length === 0) await unlessAborted(changed, signal)
      continue
    }
    const found = await untilReached(() => responses.find(id))
    if (found === undefined) throw new GatewayError('response_not_found', { values: { id } })
    const firstPart = part
    const parts = await untilReached(() => responses.events(id, firstPart))
    part += parts.length
    for (const [number, frame] of parts.flat()) {
      if (number < next) continue
      yield frame
      next = number + 1
    }
    if (parts.length > 0) continue
    if (found.hasEnded) {
      const { response } = found.turn
      yield responseFrame(String(response.status), next, response)
      return
    }
    await delay(POLL_MS, undefined, { signal })
  }
}
