import type { Call } from 'unified-model-gateway/plugin'
import { type Directives, readDirectives } from './directives.ts'
import type { PacedReply, Pacing } from './pace.ts'
import { catchRefusal, requestedError } from './refusal.ts'

/** A whole reply, which can be cut, or stall, in its middle. */
export function wholeReply(body: string, { delay, cut, stall }: Pacing, type = 'application/json'): PacedReply {
  const middle = body.length >> 1
  return {
    status: 200,
    headers: { 'content-type': type },
    frames: [body.slice(0, middle), body.slice(middle)],
    pacing: { delay, cut: cut && 1, stall: stall && 1 },
  }
}

/** A stream of events with types of their own. */
export function eventReply(events: Iterable<{ readonly type: string }>, pacing: Pacing): PacedReply {
  const frames = Iterator.from(events).map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
  return { status: 200, headers: { 'content-type': 'text/event-stream' }, frames, pacing }
}

/**
 * Makes the reply to a request whose member `param` is a text: `make` receives what is left of it without its directives. A `Refusal` that it throws
 * becomes a 400.
 */
export function replyToText(call: Call, param: string, make: (text: string, directives: Directives) => PacedReply): PacedReply {
  return catchRefusal(call, param, () => {
    const { text, directives } = readDirectives((call.member(param) as string | undefined) ?? '', param)
    return requestedError(directives) ?? make(text, directives)
  })
}
