import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import type { SecureContext } from 'node:tls'
import type { Dispatcher } from 'undici'
import { Batch } from '../async/event-loop.ts'
import { buildConnector, Client, openSocket, Pool } from '../internals.ts'
import { Secret, type UpstreamRequest } from '../sdk/api.ts'
import { lookup } from './names.ts'

/** Receives the events of a request. Any of these calls may be the last. */
export interface Receiver {
  /** What it has passed on cannot be taken back: bytes that come alone need not wait for a failure that may come in the same turn. */
  readonly isCommitted: boolean
  /** The request is being sent. */
  onSent(): void
  onHead(status: number, headers: Readonly<Record<string, string>>): void
  /** Body bytes of one turn of the event loop, in pieces of about 64 KiB at most. */
  onData(bytes: Buffer): void
  onEnd(): void
  /** `stale`: a reused socket failed before the first byte of a reply: the upstream may have closed it already. */
  onError(error: Error, stale: boolean): void
}

/** A request in progress. */
export interface Sending {
  /** Closes the connection; the receiver gets no more calls. */
  abort(): void
  pause(): void
  resume(): void
}

/** Pooled HTTP/1.1 client, one pool per origin. No redirects, no retries, no decoding, no request timeouts. */
export class UpstreamClient {
  readonly #connect: Connector
  readonly #pools = new Map<string, Pool>()

  /** `connect`: opens its connections. */
  constructor(connect = connectorWith()) {
    this.#connect = connect
  }

  /** Sends a request. `fresh`: on a new connection, closed afterwards. */
  send(request: UpstreamRequest, receiver: Receiver, fresh: boolean): Sending {
    const handler = new Handler(receiver)
    const dispatcher = fresh ? new Connection(request.origin, CONNECTION, this.#connect) : this.#pool(request.origin)
    dispatcher.dispatch(
      {
        method: 'POST',
        path: request.path,
        ...payloadOf(request),
        headersTimeout: 0,
        bodyTimeout: 0,
      },
      handler,
    )
    if (fresh) void dispatcher.close()
    return handler
  }

  /** Closes idle connections now and busy ones after their request. */
  async close(): Promise<void> {
    await Promise.all([...this.#pools.values()].map((pool) => pool.close()))
    this.#pools.clear()
  }

  #pool(origin: string): Pool {
    let pool = this.#pools.get(origin)
    if (pool === undefined) {
      pool = new Pool(origin, {
        ...CONNECTION,
        connections: null,
        factory: (url, options) => new Connection(url, options as Client.Options, this.#connect),
      })
      this.#pools.set(origin, pool)
    }
    return pool
  }
}

/** Opens connections. */
export type Connector = buildConnector.connector

/** The connector to upstreams. `secureContext`: trusted authorities and the client certificate; absent: Node's authorities, no certificate. */
export function connectorWith(secureContext?: SecureContext): Connector {
  const options = { timeout: 60_000, allowH2: false, keepAlive: true, autoSelectFamily: true, lookup }
  return buildConnector({ ...options, ...(secureContext && { secureContext }) })
}

const CONNECTION: Client.Options = {
  pipelining: 1,
  allowH2: false,
  // Below the idle timeouts of providers and load balancers (60 s and more): so the gateway closes first.
  keepAliveTimeout: 30_000,
  keepAliveMaxTimeout: 55_000,
}

/** An undici client that gives each `Handler` its `Line`. */
class Connection extends Client {
  readonly #line: Line

  constructor(origin: string | URL, options: Client.Options, connect: Connector) {
    const line = new Line(connect)
    super(origin, { ...options, connect: line.connect })
    this.#line = line
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    if (handler instanceof Handler) handler.line = this.#line
    return super.dispatch(options, handler)
  }
}

/** A connection's socket: undici creates a new one after the old one closes. */
class Line {
  readonly #connector: Connector
  #socket: Socket | undefined
  #served = 0
  #readBefore = 0
  #readAtClose = 0

  constructor(connect: Connector) {
    this.#connector = connect
  }

  readonly connect: Connector = (target, done) => {
    this.#served = 0
    const socket = openSocket(this.#connector, target, done)
    this.#socket = socket
    // An unused connection may live forever: release its closed socket and the socket's unread data.
    socket.once('close', () => {
      this.#readAtClose = socket.bytesRead
      if (this.#socket === socket) this.#socket = undefined
    })
  }

  /** Starts the next request. */
  begin(): void {
    this.#served++
    this.#readBefore = this.#bytesRead
  }

  /** Whether the current request is on a reused socket and has no byte of a reply. */
  get stale(): boolean {
    return this.#served > 1 && this.#bytesRead === this.#readBefore
  }

  get #bytesRead(): number {
    return this.#socket?.bytesRead ?? this.#readAtClose
  }

  close(): void {
    this.#socket?.destroy(new AbortedError())
  }
}

/** Limit of buffered body bytes. */
const MOST_GATHERED = 64 * 1024

/** Adapts undici's handler to a `Receiver`. */
class Handler implements Dispatcher.DispatchHandler, Sending {
  static readonly #turns = new Batch<Handler>((handler) => handler.#onTurn())
  readonly #receiver: Receiver
  #controller: Dispatcher.DispatchController | undefined
  #aborted = false
  /** Body pieces of this turn of the event loop: a stream may have a hundred, and one call for each costs more. */
  #pieces: Buffer[] = []
  #size = 0
  #isWhole = false
  #isWaiting = false
  line: Line | undefined

  constructor(receiver: Receiver) {
    this.#receiver = receiver
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    this.line!.begin()
    if (this.#aborted) controller.abort(new AbortedError())
    else this.#receiver.onSent()
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    // They are slices of the first piece read, and would keep it in memory until the reply ends.
    controller.rawHeaders = null
    // A 1xx is not the reply; undici passes it on like one.
    if (status >= 200) this.#receiver.onHead(status, joined(headers))
  }

  onResponseData(_: Dispatcher.DispatchController, bytes: Buffer): void {
    if (this.#aborted) return
    this.#pieces.push(bytes)
    this.#size += bytes.length
    // A slow receiver must be able to pause.
    if (this.#size >= MOST_GATHERED) this.#flush()
    else this.#awaitTurn()
  }

  onResponseEnd(): void {
    this.#isWhole = true
    this.#awaitTurn()
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.#flush()
    if (!this.#aborted) this.#receiver.onError(error, this.#controller !== undefined && this.line!.stale)
  }

  abort(): void {
    this.#aborted = true
    // Before the request is sent, only the connecting socket can be closed.
    if (this.#controller === undefined) this.line?.close()
    else this.#controller.abort(new AbortedError())
  }

  pause(): void {
    this.#controller?.pause()
  }

  resume(): void {
    this.#controller?.resume()
  }

  #awaitTurn(): void {
    if (this.#isWaiting) return
    this.#isWaiting = true
    if (this.#receiver.isCommitted) Handler.#turns.expedite(this)
    else Handler.#turns.add(this)
  }

  #onTurn(): void {
    this.#isWaiting = false
    this.#flush()
    if (this.#isWhole && !this.#aborted) this.#receiver.onEnd()
  }

  #flush(): void {
    const pieces = this.#pieces
    if (pieces.length === 0 || this.#aborted) return
    const bytes = pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces, this.#size)
    this.#pieces = []
    this.#size = 0
    this.#receiver.onData(bytes)
  }
}

/** Joins the values of a repeated header (RFC 9110 §5.3). */
function joined(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  for (const name in headers) {
    const value = headers[name]
    if (typeof value !== 'string') headers[name] = value?.join(', ')
  }
  return headers as Record<string, string>
}

/** The headers and the body of a request. */
function payloadOf({ headers, body }: UpstreamRequest): Pick<Dispatcher.DispatchOptions, 'headers' | 'body'> {
  if (typeof body === 'string' || body instanceof Uint8Array) return { headers: flatten(headers), body }
  const sized = [...flatten(headers), 'content-length', String(body.length)]
  return { headers: sized, body: Readable.from(body.read(), { objectMode: false }) }
}

class AbortedError extends Error {
  override readonly name = 'AbortedError'
}

/** Flattens headers and reveals secrets. */
function flatten(headers: UpstreamRequest['headers']): string[] {
  const flat: string[] = []
  for (const name in headers) {
    const value = headers[name]!
    flat.push(name, value instanceof Secret ? value.reveal() : value)
  }
  return flat
}
