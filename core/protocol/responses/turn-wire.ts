import type { GatewayError } from '../../errors.ts'
import type { ClientWire } from '../client-protocol.ts'
import { textMessage } from '../websocket.ts'
import { errorBody, errorEvent } from './endpoint.ts'
import { typeOf } from './native.ts'
import { frameOf } from './wire.ts'

/** What is read of the events of a turn. */
export interface TurnEvents {
  /** An event, by its type. `data`: its JSON. */
  read(type: string, data: string, encoding: 'latin1' | 'utf8'): void
}

/**
 * What a turn on a socket gets from the gateway itself: the events of the HTTP stream as messages, and errors as OpenAI sends them on a socket, with the status that a
 * reply by HTTP would have ("WebSocket mode", developers.openai.com, September 2026). A socket needs no signs of life: it has pings.
 */
export class TurnWire implements ClientWire {
  readonly heartbeat = ''
  readonly #streamId: string | undefined
  readonly #events: TurnEvents
  /** Begins each event of a lane with a name. */
  readonly #prefix: string

  /** `streamId`: of the lane, which its events name. */
  constructor(streamId: string | undefined, events: TurnEvents) {
    this.#streamId = streamId
    this.#events = events
    this.#prefix = streamId === undefined ? '{' : `{"stream_id":${JSON.stringify(streamId)},`
  }

  error(error: GatewayError): object {
    const stream = this.#streamId === undefined ? {} : { stream_id: this.#streamId }
    return { type: 'error', status: error.status, ...stream, ...errorBody(error) }
  }

  errorFrame(error: GatewayError, last: string): string {
    return frameOf({ ...errorEvent(error, last), status: error.status })
  }

  messages(events: string, encoding: 'latin1' | 'utf8'): string {
    let messages = ''
    for (let at = 0; at < events.length; ) {
      const line = events.startsWith(EVENT, at) ? events.indexOf('\n', at) + 1 : at
      const end = events.indexOf('\n\n', line)
      const data = events.slice(line + DATA.length, end)
      // Most events are pieces of a text.
      if (!events.startsWith(DELTA, line - DELTA.length)) this.#events.read(typeOf(data, '') ?? '', data, encoding)
      const named = this.#prefix === '{' ? data : this.#prefix + data.slice(1)
      messages += textMessage(encoding === 'latin1' || ASCII.test(named) ? named : Buffer.from(named).toString('latin1'))
      at = end + 2
    }
    return messages
  }
}

const EVENT = 'event: '
const DATA = 'data: '
const DELTA = '.delta\n'

/** Most events of a text with non-ASCII parts are ASCII: the test costs a fraction of a copy. */
const ASCII = /^[\0-\x7f]*$/
