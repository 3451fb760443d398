import { type IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Turn } from '../call/exchange.ts'
import { textMessage } from '../protocol/websocket.ts'
import { GatewayResponse } from './response.ts'

/** The path of the calls on sockets, and of the handshake. */
export const RESPONSES_PATH = '/v1/responses'

/** The headers of a socket's handshake that its turns have. */
export interface TurnHeaders {
  readonly headers: IncomingHttpHeaders
  /** Names and values, alternating. */
  readonly rawHeaders: readonly string[]
}

/** Headers of the handshake itself (RFC 6455 §4.1), of its connection, and of a body. */
const OF_HANDSHAKE = /^(?:connection|upgrade|keep-alive|te|trailer|transfer-encoding|expect|content-.*|sec-websocket-.*)$/i

/** The headers of the turns on a socket. */
export function turnHeaders({ headers, rawHeaders }: IncomingMessage): TurnHeaders {
  const type = ['content-type', 'application/json'] as const
  const own = Object.entries(headers).filter(([name]) => !OF_HANDSHAKE.test(name))
  const isOwn = (_: string, index: number): boolean => !OF_HANDSHAKE.test(rawHeaders[index - (index % 2)]!)
  return { headers: Object.fromEntries([...own, type]), rawHeaders: [...rawHeaders.filter(isOwn), ...type] }
}

/** The request of a turn: as if it had come by HTTP. */
export class TurnRequest extends IncomingMessage {
  readonly turn: Turn

  constructor(socket: IncomingMessage['socket'], { headers, rawHeaders }: TurnHeaders, body: Buffer, turn: Turn) {
    super(socket)
    this.turn = turn
    this.method = 'POST'
    this.url = RESPONSES_PATH
    // The reply of HTTP/1.0 has no chunks, whose frames the relay would write.
    this.httpVersion = '1.0'
    this.httpVersionMajor = 1
    this.httpVersionMinor = 0
    this.headers = { ...headers }
    this.rawHeaders = [...rawHeaders]
    this.complete = true
    this.push(body)
    this.push(null)
  }
}

/** Where the messages of a turn are written. */
export interface MessageSink {
  /** Whether the client reads too slowly. */
  readonly needsDrain: boolean
  /** Writes whole messages, as latin1. Returns false if `needsDrain`. `written`: called with an error if the socket closes before. */
  write(messages: string, written?: (error?: Error | null) => void): boolean
}

/** Headers of a reply that its error's message has. */
const OF_ERRORS = /^(?:x-request-id|retry-after(?:-ms)?|x-should-retry|x-ratelimit-.*)$/i

/**
 * The reply to a turn: what is written are messages, and its head is for nobody. It closes when its last message is written, or with its socket.
 */
export class TurnReply extends GatewayResponse<TurnRequest> {
  readonly #sink: MessageSink
  #isOver = false
  #isFinished = false

  constructor(request: TurnRequest, sink: MessageSink) {
    super(request)
    this.#sink = sink
    this.sendDate = false
  }

  /** All is written. */
  get isFinished(): boolean {
    return this.#isFinished
  }

  get needsDrain(): boolean {
    return !this.#isOver && this.#sink.needsDrain
  }

  override write(messages: unknown): boolean {
    return this.#isOver || this.#sink.write(messages as string)
  }

  override flushHeaders(): void {}

  /** The end of a stream, or an error in place of one. */
  override end(body?: unknown): this {
    const text = typeof body === 'string' ? body : Buffer.isBuffer(body) ? body.toString('latin1') : ''
    const isError = this.getHeader('content-type') === 'application/json'
    if (!this.#isOver) this.#sink.write(isError ? this.#error(text) : text, (error) => this.#close(error == null))
    return this
  }

  override breakOff(): void {
    process.nextTick(() => this.#close(false))
  }

  /** The client reads again. */
  drained(): void {
    if (!this.#isOver) this.emit('drain')
  }

  /** The socket is closed. */
  lost(): void {
    this.#close(false)
  }

  #close(isFinished: boolean): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#isFinished = isFinished
    this.destroyed = true
    this.emit('close')
  }

  /** `body`: of the error, in latin1. */
  #error(body: string): string {
    const names = this.getHeaderNames().filter((name) => OF_ERRORS.test(name))
    const headers = JSON.stringify(Object.fromEntries(names.map((name) => [name, String(this.getHeader(name))])))
    return textMessage(`${body.slice(0, -1)},"headers":${headers}}`)
  }
}

// Node has them as accessors, its types as properties.
Object.defineProperties(TurnReply.prototype, {
  writableFinished: {
    get(this: TurnReply) {
      return this.isFinished
    },
  },
  writableNeedDrain: {
    get(this: TurnReply) {
      return this.needsDrain
    },
  },
})
