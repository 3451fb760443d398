import type { IncomingMessage, RequestListener } from 'node:http'
import { WebSocket } from 'ws'
import { Deadlines, type Expiring } from '../async/event-loop.ts'
import type { CallMemory } from '../call/admission.ts'
import { GatewayError } from '../errors.ts'
import { scanObject } from '../protocol/json.ts'
import { type BodyScanner, LARGE, type ScannedBody } from '../protocol/json-body.ts'
import { TurnMessage } from '../protocol/responses/turn-message.ts'
import { SocketState, TurnRecord } from '../protocol/responses/turn-state.ts'
import { TurnWire } from '../protocol/responses/turn-wire.ts'
import { textMessage } from '../protocol/websocket.ts'
import type { Connection } from './connections.ts'
import { type MessageSink, type TurnHeaders, TurnReply, TurnRequest, turnHeaders } from './turn.ts'

/** Turns under way on one socket, and lanes with a name in its life: OpenAI's ("WebSocket mode", developers.openai.com, September 2026). */
const MOST_TURNS = 16
const MOST_LANES = 32
/** Messages that wait on one socket. */
const MOST_WAITING = 64

/** Codes of RFC 6455 §7.4.1, and of its registry, with which the gateway closes a socket. */
const CLOSE = {
  normal: 1000,
  protocol: 1002,
  binary: 1003,
  notJson: 1007,
  policy: 1008,
  tooLarge: 1009,
  restart: 1012,
  later: 1013,
} as const

/** What a socket does not take is an error event before it is closed with the code of ws. */
const REFUSED: Readonly<Record<number, (most: number) => GatewayError>> = {
  [CLOSE.protocol]: () => new GatewayError('malformed_frame', { values: { detail: 'it does not follow RFC 6455' } }),
  [CLOSE.notJson]: () => new GatewayError('malformed_frame', { values: { detail: 'its text is not UTF-8' } }),
  [CLOSE.tooLarge]: (limit) => new GatewayError('request_too_large', { values: { limit } }),
}

/** A WebSocket that tells before it closes itself because of what it has read. */
export class ClientSocket extends WebSocket {
  onRefused: ((code: number) => void) | undefined

  /** ws gives a code alone, and no reason, for a frame that it does not take. */
  override close(code?: number, reason?: string | Buffer): void {
    if (code !== undefined && reason === undefined && this.readyState === WebSocket.OPEN) this.onRefused?.(code)
    super.close(code, reason)
  }
}

/** How long sockets live, in milliseconds. */
export interface SocketTimes {
  /** The silence after which a socket is pinged; as long without an answer, it is lost. */
  readonly ping: number
  readonly life: number
  /** How long a client may read nothing. */
  readonly stall: number
}

/** What a socket needs of its process. */
export interface SocketServices {
  /** Serves the turns. */
  readonly listener: RequestListener
  readonly scanner: BodyScanner
  readonly times: SocketTimes
  /** The largest message, in bytes. */
  readonly largest: number
  /** Called for what is refused before it is a call. */
  refused(error: GatewayError): void
  /** A turn begins. */
  began(): void
  /** The memory of a message, until its call has its own. */
  newMessage(): CallMemory
  /** The memory of a conversation. */
  newConversation(): CallMemory
}

/** A message that waits for its turn. */
interface Waiting {
  readonly message: TurnMessage
  readonly memory: CallMemory
}

/** By how many milliseconds a ping may be late. */
const TOLERANCE_MS = 1000

const pings = new Deadlines<ResponsesSocket>(TOLERANCE_MS)

/**
 * A WebSocket on which a client makes calls of `/v1/responses`. Each message is a call through the same middleware and links as by HTTP, with an id, limits and a
 * record of its own; its events are messages. Calls of one lane run one after the other, those of several lanes side by side.
 */
export class ResponsesSocket implements Expiring, MessageSink {
  previous: this | undefined
  next: this | undefined
  /** Of the next ping, or of its life. Monotonic milliseconds. */
  deadline: number
  readonly #ws: ClientSocket
  readonly #connection: Connection
  readonly #headers: TurnHeaders
  readonly #services: SocketServices
  readonly #state: SocketState
  readonly #endsAt: number
  /** What has come of the message that is being read. */
  #receiving: CallMemory
  /** Messages are read one after the other: a large one, and those after it. */
  #reading: Promise<void> | undefined
  #unread = 0
  readonly #waiting: Waiting[] = []
  /** Lanes with a turn under way. */
  readonly #busy = new Map<string | undefined, TurnReply>()
  readonly #lanes = new Set<string>()
  /** Nothing was read since the last ping. */
  #isSilent = false
  #leaving: { readonly code: number; readonly reason: string; readonly error: GatewayError | undefined } | undefined

  constructor(ws: ClientSocket, handshake: IncomingMessage, connection: Connection, services: SocketServices) {
    this.#ws = ws
    this.#connection = connection
    this.#headers = turnHeaders(handshake)
    this.#services = services
    this.#state = new SocketState(() => services.newConversation())
    this.#receiving = services.newMessage()
    const { ping, life, stall } = services.times
    const now = performance.now()
    this.#endsAt = now + life
    this.deadline = Math.min(now + ping, this.#endsAt)
    const { socket } = connection
    socket.setTimeout(stall)
    socket.on('timeout', () => {
      if (socket.writableLength > 0) socket.destroy()
    })
    // Before ws reads them.
    socket.prependListener('data', (bytes: Buffer) => this.#received(bytes))
    socket.on('drain', () => {
      for (const reply of this.#busy.values()) reply.drained()
    })
    ws.onRefused = (code) => this.#refuse(REFUSED[code]?.(services.largest))
    ws.on('message', (data: Buffer, isBinary) => this.#message(data, isBinary))
    ws.on('error', () => undefined)
    ws.on('close', () => this.#closed())
    pings.add(this)
  }

  get needsDrain(): boolean {
    return this.#connection.socket.writableNeedDrain
  }

  write(messages: string, written?: (error?: Error | null) => void): boolean {
    const { socket } = this.#connection
    if (this.#ws.readyState === WebSocket.OPEN && !socket.destroyed) return socket.write(messages, 'latin1', written)
    process.nextTick(() => written?.(new Error('the socket is closed')))
    return true
  }

  /** Begins no more turns. When those under way have ended, the client gets the error, if there is one, and the socket is closed. */
  leave(code: number = CLOSE.restart, reason = 'the gateway restarts', error?: GatewayError): void {
    if (this.#leaving !== undefined) return
    this.#leaving = { code, reason, error }
    for (const { memory } of this.#waiting.splice(0)) memory.release()
    this.#leaveIfIdle()
  }

  /** Ends its connection, and with it the turns under way. */
  terminate(): void {
    this.#ws.terminate()
  }

  onDeadline(): void {
    const now = performance.now()
    const { ping } = this.#services.times
    const { socket } = this.#connection
    this.deadline = now < this.#endsAt ? Math.min(now + ping, this.#endsAt) : now + ping
    pings.expect(this.deadline)
    if (now >= this.#endsAt) this.leave(CLOSE.normal, 'connection limit', new GatewayError('websocket_connection_limit_reached'))
    // One that does not read what it has got does not see a ping either.
    if (socket.writableLength > 0) return
    if (this.#isSilent) this.terminate()
    else this.#ws.ping()
    this.#isSilent = true
  }

  /** Bytes of a message count before all of it is there. */
  #received(bytes: Buffer): void {
    this.#isSilent = false
    if (this.#ws.readyState !== WebSocket.OPEN) return
    try {
      this.#receiving.take(bytes.length)
    } catch (error) {
      this.#refuse(error as GatewayError)
      this.leave(CLOSE.later, 'no room')
      // To wait for its turns would be to read on.
      this.#ws.close(CLOSE.later, 'no room')
      this.#connection.socket.destroySoon()
    }
  }

  #message(bytes: Buffer, isBinary: boolean): void {
    const memory = this.#receiving
    this.#receiving = this.#services.newMessage()
    if (this.#leaving !== undefined) memory.release()
    else if (isBinary) {
      memory.release()
      this.#refuse(new GatewayError('binary_message'))
      this.leave(CLOSE.binary, 'binary message')
    } else if (this.#waiting.length + this.#unread >= MOST_WAITING) {
      memory.release()
      this.#refuse(new GatewayError('websocket_queue_full', { values: { limit: MOST_WAITING } }))
      this.leave(CLOSE.policy, 'too many events wait')
    } else if (this.#unread > 0 || bytes.length > LARGE.bytes) {
      this.#unread++
      this.#reading = this.#readLarge(bytes, memory, this.#reading)
    } else this.#add({ message: new TurnMessage(bytes, scanned(bytes)), memory })
  }

  /** Scanning many megabytes would block the event loop. */
  async #readLarge(bytes: Buffer, memory: CallMemory, before: Promise<void> | undefined): Promise<void> {
    await before
    const scan = await this.#services.scanner.scan(bytes).catch((error: unknown) => error)
    this.#unread--
    if (scan instanceof GatewayError) {
      memory.release()
      this.#refuse(scan)
      return
    }
    // Its bytes are the scanner's, also if they are not JSON.
    const { bytes: read, scanned } = scan instanceof Error ? NOT_JSON : (scan as ScannedBody)
    this.#add({ message: new TurnMessage(read, scanned), memory })
  }

  #add(waiting: Waiting): void {
    if (this.#leaving !== undefined) {
      waiting.memory.release()
      return
    }
    this.#waiting.push(waiting)
    this.#begin()
  }

  /** Begins what may begin, in the order in which it came. */
  #begin(): void {
    for (let index = 0; index < this.#waiting.length && this.#busy.size < MOST_TURNS; ) {
      if (this.#busy.has(this.#waiting[index]!.message.streamId)) index++
      else this.#serve(this.#waiting.splice(index, 1)[0]!)
    }
  }

  #serve({ message, memory }: Waiting): void {
    const { listener, began } = this.#services
    const { streamId, generates } = message
    const known = this.#state.find(message.previous)
    const record = new TurnRecord(this.#services.newConversation)
    const wire = new TurnWire(streamId, record)
    const refusal = message.refusal ?? this.#refusalOf(message, known !== undefined)
    const turn = { wire, generates, refusal }
    const request = new TurnRequest(this.#connection.socket, this.#headers, message.body(known), turn)
    const reply = new TurnReply(request, this)
    this.#busy.set(streamId, reply)
    this.#connection.turns = this.#busy.size
    memory.release()
    began()
    listener(request, reply)
    // After the listeners of the call, which settle it.
    reply.once('close', () => this.#ended(message, reply, record))
  }

  #refusalOf(message: TurnMessage, isKnown: boolean): GatewayError | undefined {
    const { streamId, previous, storesNothing } = message
    if (streamId !== undefined && !this.#lanes.has(streamId)) {
      if (this.#lanes.size >= MOST_LANES)
        return new GatewayError('websocket_stream_limit_reached', { param: 'stream_id', values: { limit: MOST_LANES } })
      this.#lanes.add(streamId)
    }
    if (previous === undefined || isKnown || !storesNothing) return undefined
    const values = { id: previous.slice(0, 200) }
    return new GatewayError('previous_response_not_found', { param: 'previous_response_id', values })
  }

  #ended(message: TurnMessage, reply: TurnReply, record: TurnRecord): void {
    this.#busy.delete(message.streamId)
    this.#connection.turns = this.#busy.size
    this.#connection.usedAt = performance.now()
    if (reply.isFinished && record.id !== undefined) this.#state.keep(message, record)
    else this.#state.failed(message)
    record.release()
    if (reply.statusCode === 401) this.leave(CLOSE.policy, 'the key is not valid')
    else if (!message.isJson) this.leave(CLOSE.notJson, 'not JSON')
    this.#leaveIfIdle()
    this.#begin()
  }

  #leaveIfIdle(): void {
    if (this.#leaving === undefined || this.#busy.size > 0) return
    const { code, reason, error } = this.#leaving
    if (this.#ws.readyState !== WebSocket.OPEN) return
    this.#refuse(error)
    this.#ws.close(code, reason)
  }

  /** Sends an error that belongs to no turn. */
  #refuse(error: GatewayError | undefined): void {
    if (error === undefined) return
    const wire = new TurnWire(undefined, new TurnRecord())
    this.write(textMessage(Buffer.from(JSON.stringify(wire.error(error))).toString('latin1')))
    this.#services.refused(error)
  }

  #closed(): void {
    pings.remove(this)
    for (const { memory } of this.#waiting.splice(0)) memory.release()
    this.#leaving ??= { code: CLOSE.normal, reason: '', error: undefined }
    for (const reply of this.#busy.values()) reply.lost()
    this.#receiving.release()
    this.#state.release()
  }
}

/** In place of a large message that is not JSON. */
const NOT_JSON = { bytes: Buffer.from('-'), scanned: undefined }

const scanned = (bytes: Buffer): ReturnType<typeof scanObject> | undefined => {
  try {
    return scanObject(bytes)
  } catch {
    return undefined
  }
}
