import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { type RequestMessage, readRequest, SocketReader } from './read-request.ts'
import { json } from './replies.ts'
import { type Bytes, FIN, Hold, RST, type Script } from './script.ts'

/** A request that the scripted upstream has received. */
export interface ReceivedRequest extends RequestMessage {
  /** The number of its connection, counted from 1. */
  readonly connection: number
  /** Its number on the connection, counted from 1: above 1, the connection was reused. */
  readonly turn: number
  /** Resolves when its connection has closed, on either side. */
  readonly closed: Promise<void>
  /** The body, parsed. */
  json(): unknown
}

/** Chooses the script for a request. */
export type RequestHandler = (request: ReceivedRequest) => Script | Promise<Script>

/** How a scripted upstream behaves. */
export interface ScriptedUpstreamOptions {
  /**
   * Default: true. False: scripts start after a request's head, its body stays unread while they run, and each connection serves
   * one request.
   */
  readonly readBody?: boolean
}

interface Waiting {
  readonly script: Script
  taken(request: ReceivedRequest): void
}

/** An HTTP/1.1 server on loopback that replies with exactly the scripted bytes. Created by `scriptedUpstream`. */
export class ScriptedUpstream {
  /** `http://127.0.0.1:PORT` */
  readonly origin: string
  /** All requests so far, in order of arrival. */
  readonly requests: readonly ReceivedRequest[]
  readonly #server: Server
  readonly #readBody: boolean
  readonly #requests: ReceivedRequest[] = []
  readonly #sockets = new Set<Socket>()
  readonly #waiting: Waiting[] = []
  readonly #failures: unknown[] = []
  #handler: RequestHandler = answerNotScripted
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

  /** Answers the next request that no earlier `reply` answers. Resolves to that request when it arrives. */
  reply(script: Script): Promise<ReceivedRequest> {
    return new Promise((taken) => this.#waiting.push({ script, taken }))
  }

  /** Answers, from now on, all requests that no `reply` answers. */
  on(handler: RequestHandler): void {
    this.#handler = handler
  }

  /** Closes the port and all connections. Throws the first error of a handler or a script, or for a request that is not HTTP/1.1. */
  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    await new Promise((resolve) => this.#server.close(resolve))
    if (this.#failures.length > 0) throw this.#failures[0]
  }

  #accept(socket: Socket): void {
    this.#accepted++
    this.#sockets.add(socket)
    socket.once('close', () => this.#sockets.delete(socket))
    // A reset by the client is an error of the socket; tests treat it as a close.
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
    // Unread bytes would keep the socket from closing.
    socket.resume()
  }

  #scriptFor(request: ReceivedRequest): Script | Promise<Script> {
    const next = this.#waiting.shift()
    next?.taken(request)
    return next?.script ?? this.#handler(request)
  }
}

/**
 * Starts an upstream that replies by scripts, for what a mock cannot do: cuts, stalls, resets, stray bytes, odd framing.
 *
 * @example
 * const upstream = await scriptedUpstream()
 * const stalled = hold()
 * const received = upstream.reply(sse([firstChunk, stalled, RST]))
 * // … the client under test calls upstream.origin …
 * const request = await received
 * await stalled.reached // the first chunk has been sent
 * stalled.release() // and now the connection is reset
 * await request.closed
 * await upstream.close()
 */
export async function scriptedUpstream(options: ScriptedUpstreamOptions = {}): Promise<ScriptedUpstream> {
  const server = createServer({ noDelay: true })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return new ScriptedUpstream(server, options)
}

function answerNotScripted({ method, path }: ReceivedRequest): Script {
  const message = `no reply is scripted for ${method} ${path}: call upstream.reply(…) or upstream.on(…)`
  return json({ error: { message, type: 'server_error', param: null, code: null } }, { status: 500 })
}

/**
 * Plays a script on a socket. Resolves to whether the connection stays open for another request. `closed` resolves when the
 * socket has closed, which stops a waiting script.
 */
async function playScript(script: Script, socket: Socket, closed: Promise<void>): Promise<boolean> {
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
 * One write, followed by two turns of the event loop: after one, the other side may not have read the bytes yet. So a reader in
 * this process gets each write separately, and all of them before a reset.
 */
async function send(socket: Socket, bytes: Bytes): Promise<void> {
  // If the socket has closed, the caller sees that it is not writable.
  await new Promise<void>((resolve) => socket.write(bytes, () => resolve()))
  await turn()
  await turn()
}
