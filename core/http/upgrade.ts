import type { IncomingMessage, RequestListener } from 'node:http'
import { WebSocketServer } from 'ws'
import { LinkedList } from '../async/linked-list.ts'
import type { Admission, CallMemory } from '../call/admission.ts'
import type { Endpoint } from '../call/exchange.ts'
import { requirePrincipal } from '../call/serve.ts'
import type { Settlement } from '../call/settle.ts'
import { GatewayError } from '../errors.ts'
import { METRICS } from '../observe/metric-definitions.ts'
import type { Metrics } from '../observe/metrics.ts'
import type { BodyScanner } from '../protocol/json-body.ts'
import { RESPONSES_WIRE } from '../protocol/responses/endpoint.ts'
import type { Principal } from '../sdk/api.ts'
import { newRequestId } from '../text/ids.ts'
import type { Connection } from './connections.ts'
import { GatewayResponse } from './response.ts'
import { ClientSocket, ResponsesSocket, type SocketTimes } from './socket.ts'

/** The address of the sockets: that of the calls by HTTP. */
const ADDRESS = /^\/v1\/responses\/?(?:\?|$)/

/** How long a client may take to answer the end of its socket, in milliseconds: an option of ws 8.23 that its types omit. */
const CLOSING = { closeTimeout: 2000 }

/** Codes of a close that are counted by themselves: a client may send any. */
const CODES: ReadonlySet<number> = new Set([1000, 1001, 1002, 1003, 1005, 1006, 1007, 1008, 1009, 1011, 1012, 1013])

/** The services of sockets. */
export interface SocketsOptions {
  readonly admission: Admission
  readonly scanner: BodyScanner
  readonly settlement: Settlement
  readonly metrics: Metrics
  readonly socketTimes: SocketTimes
  /** Origins whose pages may open sockets. */
  readonly corsOrigins?: readonly string[] | undefined
}

/** A handshake that is accepted. */
interface Accepted {
  readonly principal: Principal
  readonly place: CallMemory
}

/** The WebSockets of clients at `/v1/responses`. */
export class Sockets {
  readonly #options: SocketsOptions
  readonly #server: WebSocketServer
  readonly #origins: ReadonlySet<string>
  readonly #open = new LinkedList<ResponsesSocket>()
  readonly #metrics
  #isLeaving = false

  constructor(options: SocketsOptions) {
    const { metrics, admission, corsOrigins = [] } = options
    this.#options = options
    this.#origins = new Set(corsOrigins)
    this.#server = new WebSocketServer<typeof ClientSocket>({
      ...CLOSING,
      noServer: true,
      clientTracking: false,
      // A window of zlib for each socket would be most of its memory, and events are short.
      perMessageDeflate: false,
      maxPayload: admission.largestBody,
      WebSocket: ClientSocket,
    })
    this.#server.on('headers', (lines, request) => lines.push(...headersOf(request)))
    this.#metrics = {
      open: metrics.declare(METRICS.sockets),
      turns: metrics.declare(METRICS.socketTurns),
      closes: metrics.declare(METRICS.socketCloses),
    }
    this.#metrics.open.set(0)
  }

  /** Whether a request with `Upgrade` is for a socket; others are served as if they had none (RFC 9110 §7.8). */
  isHandshake({ method, url = '', headers }: IncomingMessage): boolean {
    return method === 'GET' && ADDRESS.test(url) && headers.upgrade?.toLowerCase() === 'websocket'
  }

  /** Checks a handshake whose client is known. Throws `GatewayError`. */
  check({ headers }: IncomingMessage, principal: Principal): Accepted {
    const { origin } = headers
    // Browsers let any page open a socket, and send what it does not need to know: a network, no key.
    if (origin !== undefined && !this.#origins.has(origin))
      throw new GatewayError('origin_not_allowed', { values: { origin: origin.slice(0, 200) } })
    if (!KEY.test(headers['sec-websocket-key'] ?? '') || headers['sec-websocket-version'] !== VERSION)
      throw new GatewayError('malformed_handshake', { headers: { 'sec-websocket-version': VERSION } })
    if (this.#isLeaving) throw new GatewayError('service_unavailable', { headers: { 'retry-after': '1' } })
    const place = this.#options.admission.socketFor(principal.account)
    place.take(1)
    return { principal, place }
  }

  /** Opens the socket of a handshake. `listener`: serves its turns. */
  open(upgrade: Upgrade, listener: RequestListener, { principal, place }: Accepted): void {
    const { admission, scanner, socketTimes: times, settlement } = this.#options
    const { request, head, connection } = upgrade
    connection.socket.once('close', () => place.release())
    this.#server.handleUpgrade(request, connection.socket, head, (ws) => {
      const socket = new ResponsesSocket(ws as ClientSocket, request, connection, {
        listener,
        scanner,
        times,
        largest: admission.largestBody,
        refused: (error) => settlement.refused(newRequestId(), error),
        began: () => this.#metrics.turns.add(1),
        newMessage: () => admission.memoryFor(principal.keyId),
        newConversation: () => admission.conversationFor(principal.account),
      })
      this.#open.add(socket)
      // Its handshake was accepted before.
      if (this.#isLeaving) socket.leave()
      this.#metrics.open.add(1)
      ws.once('close', (code: number) => {
        this.#open.remove(socket)
        this.#metrics.open.add(-1)
        this.#metrics.closes.add(1, CODES.has(code) ? String(code) : 'other')
      })
    })
  }

  /** Opens no more sockets, and closes each one when its turns under way have ended: its client opens another one elsewhere. */
  leave(): void {
    this.#isLeaving = true
    for (const socket of this.#open) socket.leave()
  }

  /** Ends all sockets. */
  terminate(): void {
    for (const socket of this.#open) socket.terminate()
  }
}

/** 16 bytes as base64 (RFC 6455 §4.1). */
const KEY = /^[+/0-9A-Za-z]{22}==$/
const VERSION = '13'

/** A request for a socket. */
export interface Upgrade {
  readonly request: IncomingMessage
  /** What follows the request. */
  readonly head: Buffer
  readonly connection: Connection
}

/** The replies to handshakes that are accepted, for the headers of ws. */
const replies = new WeakMap<IncomingMessage, HandshakeReply>()

/** Headers that a 101 does not have. */
const OF_BODIES = new Set(['content-type', 'content-length', 'connection'])

const headersOf = (request: IncomingMessage): readonly string[] => {
  const reply = replies.get(request)
  const names = reply?.getRawHeaderNames().filter((name) => !OF_BODIES.has(name.toLowerCase())) ?? []
  return names.flatMap((name) => [reply!.getHeader(name)].flat().map((value) => `${name}: ${value}`))
}

/** The reply to a handshake: an error as by HTTP, or a socket in place of any other reply. */
export class HandshakeReply extends GatewayResponse {
  readonly #upgrade: Upgrade
  readonly #sockets: Sockets
  readonly #listener: RequestListener
  #accepted: Accepted | undefined

  constructor(upgrade: Upgrade, sockets: Sockets, listener: RequestListener) {
    super(upgrade.request)
    this.#upgrade = upgrade
    this.#sockets = sockets
    this.#listener = listener
    const { socket } = upgrade.connection
    this.assignSocket(socket)
    this.shouldKeepAlive = false
    this.once('finish', () => {
      this.detachSocket(socket)
      socket.destroySoon()
      this.emit('close')
    })
    // The place of a socket that is open belongs to its connection.
    this.once('close', () => {
      if (!this.isUpgraded) this.#accepted?.place.release()
    })
  }

  /** A socket is open in its place. */
  get isUpgraded(): boolean {
    return this.statusCode === SWITCHING
  }

  /** Its client may have a socket. Throws `GatewayError`. */
  accept(principal: Principal): void {
    this.#accepted = this.#sockets.check(this.#upgrade.request, principal)
  }

  override end(...body: unknown[]): this {
    const { request, connection } = this.#upgrade
    const accepted = this.#accepted
    if (accepted === undefined || this.statusCode !== 200) return super.end(...(body as []))
    this.statusCode = SWITCHING
    this.detachSocket(connection.socket)
    replies.set(request, this)
    this.#sockets.open(this.#upgrade, this.#listener, accepted)
    process.nextTick(() => this.emit('close'))
    return this
  }
}

const SWITCHING = 101

// Node has it as an accessor, its types as a property.
Object.defineProperty(HandshakeReply.prototype, 'writableFinished', {
  get(this: HandshakeReply) {
    return this.isUpgraded || this.writableEnded
  },
})

/**
 * The endpoint of handshakes: a request without a body, which tells who calls. Its links see it as they see a list of models, the only other one: none may ask
 * for a body that is not there. What its turns are, they see of each.
 */
export const HANDSHAKE: Endpoint = {
  name: 'models',
  check: 'no body',
  wire: RESPONSES_WIRE,
  async serve(exchange, ctx) {
    ;(ctx.res as HandshakeReply).accept(requirePrincipal(exchange))
    exchange.answer({ kind: 'whole', body: NO_BODY })
  },
}

const NO_BODY = Buffer.alloc(0)
