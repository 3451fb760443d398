import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { json } from './replies.ts'
import { type Bytes, FIN, Hold, RST, type Script } from './script.ts'
import { SocketReader } from './socket-reader.ts'

/** A request that the scripted upstream has received. */
export interface ReceivedRequest extends RequestMessage {
  /** Which connection it came on, counted from 1. */
  readonly connection: number
  /** Which request of its connection it is, counted from 1: above 1 the connection was reused. */
  readonly turn: number
  /** Resolves when its connection has closed, whoever closed it. */
  readonly closed: Promise<void>
  /** The body, parsed. */
  json(): unknown
}

/** Chooses the script for a request. */
export type RequestHandler = (request: ReceivedRequest) => Script | Promise<Script>

/** How a scripted upstream behaves. */
export interface ScriptedUpstreamOptions {
  /**
   * Default: true. False: scripts start when a request's head has come, its body is left on the wire while they run, and each
   * connection serves one request.
   */
  readonly readBody?: boolean
}

interface Waiting {
  readonly script: Script
  taken(request: ReceivedRequest): void
}

/** An HTTP/1.1 server on loopback that answers with exactly the bytes it was told to. Made by `scriptedUpstream`. */
export class ScriptedUpstream {
  /** `http://127.0.0.1:PORT` */
  readonly origin: string
  /** All requests so far, in the order in which they came. */
  readonly requests: readonly ReceivedRequest[]
  readonly #server: Server
  readonly #readBody: boolean
  readonly #requests: ReceivedRequest[] = []
  readonly #sockets = new Set<Socket>()
  readonly #waiting: Waiting[] = []
  readonly #failures: unknown[] = []
  #handler: RequestHandler = notScripted
  #accepted = 0

  constructor(server: Server, { readBody = true }: ScriptedUpstreamOptions) {
    this.origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    this.requests = this.#requests
    this.#server = server.on('connection', (socket) => this.#accept(socket))
    this.#readBody = readBody
  }

  /** Connections open now. */
  get connectionsOpen(): number {
    return this.#sockets.size
  }

  /** Connections accepted so far. */
  get connectionsAccepted(): number {
    return this.#accepted
  }

  /** Answers the next request that no earlier `reply` answers. Resolves with that request when it has come. */
  reply(script: Script): Promise<ReceivedRequest> {
    return new Promise((taken) => this.#waiting.push({ script, taken }))
  }

  /** Answers, from now on, all requests that no `reply` is waiting for. */
  on(handler: RequestHandler): void {
    this.#handler = handler
  }

  /** Closes the port and all connections. Throws what a handler or a script threw, or what a client sent that is not HTTP/1.1. */
  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    await new Promise((resolve) => this.#server.close(resolve))
    if (this.#failures.length > 0) throw this.#failures[0]
  }

  #accept(socket: Socket): void {
    this.#accepted++
    this.#sockets.add(socket)
    socket.once('close', () => this.#sockets.delete(socket))
    // A reset by the client is an error of the socket; to the test it is a close like any other.
    socket.on('error', () => {})
    this.#serve(socket, this.#accepted).catch((error) => {
      this.#failures.push(error)
      socket.destroy()
    })
  }

  async #serve(socket: Socket, connection: number): Promise<void> {
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
    const reader = new SocketReader(socket)
    for (let turn = 1, open = true; open; turn++) {
      const message = await readRequest(reader, this.#readBody)
      if (message === undefined) return
      if (!this.#readBody) socket.pause()
      const request = { ...message, connection, turn, closed, json: () => JSON.parse(message.body.toString()) }
      this.#requests.push(request)
      open = (await playScript(await this.#scriptFor(request), socket, closed)) && this.#readBody
    }
    socket.end()
    // What is left unread would keep the socket from closing.
    socket.resume()
  }

  #scriptFor(request: ReceivedRequest): Script | Promise<Script> {
    const next = this.#waiting.shift()
    next?.taken(request)
    return next?.script ?? this.#handler(request)
  }
}

/**
 * Starts an upstream whose replies are scripts, for all that a mock cannot do: cuts, stalls, resets, stray bytes, odd framing.
 *
 * @example
 * const upstream = await scriptedUpstream()
 * const stalled = hold()
 * const asked = upstream.reply(sse([firstChunk, stalled, RST]))
 * // … the client under test calls upstream.origin …
 * const request = await asked
 * await stalled.reached // the first chunk is out
 * stalled.release() // and now the connection is reset
 * await request.closed
 * await upstream.close()
 */
export async function scriptedUpstream(options: ScriptedUpstreamOptions = {}): Promise<ScriptedUpstream> {
  const server = createServer({ noDelay: true })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return new ScriptedUpstream(server, options)
}

function notScripted({ method, path }: ReceivedRequest): Script {
  const message = `no reply is scripted for ${method} ${path}: call upstream.reply(…) or upstream.on(…)`
  return json({ error: { message, type: 'server_error', param: null, code: null } }, { status: 500 })
}

/**
 * Plays a script on a socket, and says whether the connection stays open for another request. `closed` resolves when the
 * socket has closed: the script then ends where it is.
 */
export async function playScript(script: Script, socket: Socket, closed: Promise<void>): Promise<boolean> {
  for await (const step of script) {
    if (step === FIN) socket.end()
    else if (step === RST) socket.resetAndDestroy()
    else if (step instanceof Hold) await Promise.race([step.arrive(), closed])
    else await send(socket, step)
    if (!socket.writable) return false
  }
  return true
}

/**
 * One write, and then two turns of the event loop: the first may end before the other side has seen the bytes, the second
 * does not. So a reader in this process gets each write by itself, and all of them before a reset.
 */
async function send(socket: Socket, bytes: Bytes): Promise<void> {
  // Where the socket has closed, the caller sees that it is not writable.
  await new Promise<void>((resolve) => socket.write(bytes, () => resolve()))
  await turn()
  await turn()
}

/** A request as it came over the wire. */
export interface RequestMessage {
  readonly method: string
  /** Path and query, as they were written. */
  readonly path: string
  /** Names in lower case; repeated ones are joined by a comma and a space. */
  readonly headers: Readonly<Record<string, string>>
  /** Names and values in the order and spelling in which they came. */
  readonly rawHeaders: readonly (readonly [name: string, value: string])[]
  readonly body: Buffer
}

const REQUEST_LINE = /^([A-Z]+) (\S+) HTTP\/1\.1$/
const HEADER_LINE = /^([^\s:]+): ?(.*)$/
const CHUNK_LINE = /^([0-9a-fA-F]+)$/

/**
 * Reads the next HTTP/1.1 request, whole or up to its body; undefined where the connection closes first. Throws an Error that
 * quotes what is not HTTP/1.1: the client under test must not send it.
 */
export async function readRequest(reader: SocketReader, readBody: boolean): Promise<RequestMessage | undefined> {
  const bytes = await reader.until('\r\n\r\n')
  if (bytes === undefined) return undefined
  const [requestLine = '', ...lines] = bytes.toString('latin1').split('\r\n')
  const [, method = '', path = ''] = matched(REQUEST_LINE, requestLine)
  const rawHeaders = lines.map((line) => {
    const [, name = '', value = ''] = matched(HEADER_LINE, line)
    return [name, value] as const
  })
  const headers = joined(rawHeaders)
  const body = readBody ? await readBodyOf(headers, reader) : Buffer.alloc(0)
  return body && { method, path, headers, rawHeaders, body }
}

function readBodyOf(headers: Readonly<Record<string, string>>, reader: SocketReader): Promise<Buffer | undefined> {
  return headers['transfer-encoding'] === 'chunked' ? readChunks(reader) : reader.exactly(Number(headers['content-length'] ?? 0))
}

async function readChunks(reader: SocketReader): Promise<Buffer | undefined> {
  const chunks: Buffer[] = []
  for (;;) {
    const line = await reader.until('\r\n')
    if (line === undefined) return undefined
    const [, size = ''] = matched(CHUNK_LINE, line.toString('latin1'))
    if (Number.parseInt(size, 16) === 0) return (await skipTrailers(reader)) ? Buffer.concat(chunks) : undefined
    const chunk = await reader.exactly(Number.parseInt(size, 16))
    if (chunk === undefined || (await reader.exactly(2)) === undefined) return undefined
    chunks.push(chunk)
  }
}

/** Reads on to the empty line that ends a chunked body; false where the connection closes before it. */
async function skipTrailers(reader: SocketReader): Promise<boolean> {
  let line = await reader.until('\r\n')
  while (line !== undefined && line.length > 0) line = await reader.until('\r\n')
  return line !== undefined
}

function joined(rawHeaders: RequestMessage['rawHeaders']): Record<string, string> {
  const headers: Record<string, string> = Object.create(null)
  for (const [name, value] of rawHeaders) {
    const key = name.toLowerCase()
    headers[key] = key in headers ? `${headers[key]}, ${value}` : value
  }
  return headers
}

function matched(pattern: RegExp, line: string): RegExpExecArray {
  const match = pattern.exec(line)
  if (match === null) throw new Error(`the scripted upstream got a line that is not HTTP/1.1: ${JSON.stringify(line)}`)
  return match
}
