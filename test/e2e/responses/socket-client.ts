import { once } from 'node:events'
import type { ClientRequest, IncomingMessage } from 'node:http'
import { type ClientOptions, WebSocket } from 'ws'
import type { TestGateway } from '../../support/gateway.ts'

/** An event on a socket. */
export interface SocketEvent {
  readonly type: string
  readonly [member: string]: unknown
}

/** How a socket was closed. */
export interface SocketEnd {
  readonly code: number
  readonly reason: string
}

/** Events that end a turn. */
const LAST = new Set(['response.completed', 'response.incomplete', 'response.failed', 'error'])

/** A client on a socket, which reads one event after the other. */
export class SocketClient {
  readonly ws: WebSocket
  /** All events so far. */
  readonly events: SocketEvent[] = []
  readonly closed: Promise<SocketEnd>
  #read = 0
  #arrived = Promise.withResolvers<void>()

  constructor(ws: WebSocket) {
    this.ws = ws
    ws.on('error', () => undefined)
    ws.on('message', (data) => {
      this.events.push(JSON.parse(String(data)))
      this.#wake()
    })
    this.closed = once(ws, 'close').then(([code, reason]) => {
      this.#wake()
      return { code: code as number, reason: String(reason) }
    })
  }

  /** Sends an event, or a text as it is. */
  send(event: object | string): void {
    this.ws.send(typeof event === 'string' ? event : JSON.stringify(event))
  }

  /** The next event that fits. Rejects if the socket is closed before. */
  async next(fits: (event: SocketEvent) => boolean = () => true): Promise<SocketEvent> {
    for (;;) {
      while (this.#read < this.events.length) {
        const event = this.events[this.#read++]!
        if (fits(event)) return event
      }
      if (this.ws.readyState === WebSocket.CLOSED) throw new Error('the socket is closed')
      await this.#arrived.promise
    }
  }

  /** Begins a turn. Resolves to its last event. */
  async turn(body: object): Promise<SocketEvent> {
    this.send({ type: 'response.create', ...body })
    return this.next(({ type }) => LAST.has(type))
  }

  /** The last event of the turn under way. */
  end(lane?: string): Promise<SocketEvent> {
    return this.next(({ type, stream_id }) => LAST.has(type) && stream_id === lane)
  }

  async close(): Promise<SocketEnd> {
    this.ws.close()
    return this.closed
  }

  #wake(): void {
    this.#arrived.resolve()
    this.#arrived = Promise.withResolvers()
  }
}

/** The options of `connect`. */
export interface SocketOptions extends ClientOptions {
  readonly key?: string
  readonly path?: string
}

/** A socket whose handshake is under way. */
export const open = (
  { url, liveKey }: Pick<TestGateway, 'url' | 'liveKey'>,
  { key = liveKey, path, headers, ...options }: SocketOptions,
) =>
  new WebSocket(`${url.replace(/^http/, 'ws')}${path ?? '/v1/responses'}`, {
    ...options,
    headers: { ...(key !== '' && { authorization: `Bearer ${key}` }), ...headers },
  })

/** Opens a socket. Rejects if it is refused. */
export async function connect(gateway: Pick<TestGateway, 'url' | 'liveKey'>, options: SocketOptions = {}): Promise<SocketClient> {
  const ws = open(gateway, options)
  const client = new SocketClient(ws)
  await once(ws, 'open')
  return client
}

/** The refusal of a socket: the reply to its handshake. */
export async function refused(
  gateway: Pick<TestGateway, 'url' | 'liveKey'>,
  options: SocketOptions = {},
): Promise<{ readonly status: number; readonly headers: IncomingMessage['headers']; readonly error: Record<string, unknown> }> {
  const ws = open(gateway, options)
  ws.on('error', () => undefined)
  const [, reply] = (await once(ws, 'unexpected-response')) as [ClientRequest, IncomingMessage]
  let text = ''
  for await (const piece of reply) text += String(piece)
  return { status: reply.statusCode!, headers: reply.headers, error: JSON.parse(text).error }
}
