import type { Relay } from '../dispatch/relay.ts'
import type { ClientWire } from '../protocol/client-protocol.ts'
import type { StreamSink } from '../upstream/readers/stream-sink.ts'
import type { Exchange } from './exchange.ts'

/** Where the reply of a model goes. */
export interface Output {
  /** Takes the events of a streamed reply; undefined for a whole one. */
  readonly sink: StreamSink | undefined
  /** `made`: what dispatch makes of the call. Resolves when the head of the reply to the client may be sent; rejects with the call's error. */
  send(made: Promise<Buffer | undefined>): Promise<void>
}

/** The client gets the reply in one piece. */
export class WholeOutput implements Output {
  readonly sink = undefined
  readonly #exchange: Exchange

  constructor(exchange: Exchange) {
    this.#exchange = exchange
  }

  async send(made: Promise<Buffer | undefined>): Promise<void> {
    const body = await made
    this.#exchange.dispatching = undefined
    if (body !== undefined) this.#exchange.answer({ kind: 'whole', body })
  }
}

/** The client gets the reply as it is made. */
export class StreamOutput implements Output {
  readonly sink: Relay
  readonly #exchange: Exchange

  constructor(exchange: Exchange, wire: ClientWire) {
    this.#exchange = exchange
    this.sink = exchange.openStream(wire)
  }

  /** Resolves when the stream is committed, or when the client has waited so long that it needs a heartbeat. */
  async send(made: Promise<unknown>): Promise<void> {
    // If the head is out by then, it fails by an error frame.
    made.catch((error: unknown) => this.#exchange.fail(error))
    await Promise.race([this.sink.headDue, made])
  }
}
