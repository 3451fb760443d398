import type { Socket } from 'node:net'
import { buildConnector, Client, type Dispatcher, Pool } from 'undici'
import { Batch } from '../async/event-loop.ts'
import { Secret, type UpstreamRequest } from '../sdk/api.ts'

/** What an attempt hears of its request. Any of these may be the last thing it hears. */
export interface Receiver {
  /** The request is on its way. */
  onSent(): void
  onHead(status: number, headers: Readonly<Record<string, string>>): void
  /** What one turn of the event loop has brought of the body, in pieces of about 64 KiB at most. */
  onData(bytes: Buffer): void
  onEnd(): void
  /** `stale`: on a socket that had served before, and without a byte of a reply: the other side may have closed it already. */
  onError(error: Error, stale: boolean): void
}

/** A request under way. */
export interface Sending {
  /** Closes the connection; the receiver hears nothing more. */
  abort(): void
  pause(): void
  resume(): void
}

/** Pooled HTTP/1.1 to the upstreams, one pool an origin. No redirects, no retries, no decoding, no deadlines of its own. */
export class UpstreamClient {
  readonly #pools = new Map<string, Pool>()

  /** Sends a request. `fresh`: on a new connection, closed afterwards. */
  send(request: UpstreamRequest, receiver: Receiver, fresh: boolean): Sending {
    const handler = new Handler(receiver)
    const dispatcher = fresh ? new Connection(request.origin, CONNECTION) : this.#pool(request.origin)
    dispatcher.dispatch(
      {
        method: 'POST',
        path: request.path,
        headers: flatten(request.headers),
        body: request.body,
        headersTimeout: 0,
        bodyTimeout: 0,
      },
      handler,
    )
    if (fresh) void dispatcher.close()
    return handler
  }

  /** Ends idle connections now and busy ones when their request is over. */
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
        factory: (url, options) => new Connection(url, options as Client.Options),
      })
      this.#pools.set(origin, pool)
    }
    return pool
  }
}

const connector = buildConnector({ timeout: 60_000, allowH2: false, keepAlive: true })

const CONNECTION: Client.Options = {
  pipelining: 1,
  allowH2: false,
  // Below what providers and load balancers keep idle (60 s and more), so that it is we who close.
  keepAliveTimeout: 30_000,
  keepAliveMaxTimeout: 55_000,
}

/** An undici client that shows its requests the line they are on. */
class Connection extends Client {
  readonly #line: Line

  constructor(origin: string | URL, options: Client.Options) {
    const line = new Line()
    super(origin, { ...options, connect: line.connect })
    this.#line = line
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    if (handler instanceof Handler) handler.line = this.#line
    return super.dispatch(options, handler)
  }
}

/** The socket of a connection: undici makes a new one when the old one is gone. */
class Line {
  #socket: Socket | undefined
  #served = 0
  #readBefore = 0
  #readAtClose = 0

  readonly connect: buildConnector.connector = (target, done) => {
    this.#served = 0
    // The types leave out that it returns the socket.
    const socket = connector(target, done) as unknown as Socket
    this.#socket = socket
    // The connection may wait for ever to be used again: what its dead socket has not read must not wait with it.
    socket.once('close', () => {
      this.#readAtClose = socket.bytesRead
      if (this.#socket === socket) this.#socket = undefined
    })
  }

  /** The next request goes out. */
  begin(): void {
    this.#served++
    this.#readBefore = this.#bytesRead
  }

  /** Whether the request under way met a socket that had served before, and has had no byte of a reply. */
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

/** Bytes of a body that are gathered at most. */
const MOST_GATHERED = 64 * 1024

/** Undici's view of a request, reduced to a `Receiver`'s. */
class Handler implements Dispatcher.DispatchHandler, Sending {
  static readonly #turns = new Batch<Handler>((handler) => handler.#onTurn())
  readonly #receiver: Receiver
  #controller: Dispatcher.DispatchController | undefined
  #aborted = false
  /** The pieces of the body that this turn of the event loop has brought: a stream's may be a hundred, and each by itself costs more. */
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
    // They are parts of the first piece that was read, and would keep all of it for as long as the reply lasts.
    controller.rawHeaders = null
    // 1xx are not the reply; undici hands them on like one.
    if (status >= 200) this.#receiver.onHead(status, joined(headers))
  }

  onResponseData(_: Dispatcher.DispatchController, bytes: Buffer): void {
    if (this.#aborted) return
    this.#pieces.push(bytes)
    this.#size += bytes.length
    // A receiver that reads slowly must be able to say so.
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
    // Before the request is out, all there is to close is the socket that is not connected yet.
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
    Handler.#turns.add(this)
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

/** A header that came more than once, as one (RFC 9110 §5.3). */
function joined(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  for (const name in headers) {
    const value = headers[name]
    if (typeof value !== 'string') headers[name] = value?.join(', ')
  }
  return headers as Record<string, string>
}

class AbortedError extends Error {
  override readonly name = 'AbortedError'
}

/** The one place where secrets are opened. */
function flatten(headers: UpstreamRequest['headers']): string[] {
  const flat: string[] = []
  for (const name in headers) {
    const value = headers[name]!
    flat.push(name, value instanceof Secret ? value.reveal() : value)
  }
  return flat
}
