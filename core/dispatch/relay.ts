import type { ServerResponse } from 'node:http'
import { Deadlines, type Expiring } from '../async/event-loop.ts'
import type { GatewayError } from '../errors.ts'
import { beginUnframed } from '../internals.ts'
import { type ClientWire, OPENAI_WIRE } from '../protocol/client-protocol.ts'
import type { PausableSource, StreamSink } from '../upstream/readers/stream-sink.ts'

/** What a relay writes to. */
export interface RelayedResponse extends ServerResponse {
  /** Breaks the reply off, once what was written has been sent. */
  breakOff(): void
}

/** The content type of a stream of events. */
const EVENTS = 'text/event-stream; charset=utf-8'

/** Before the first event: a comment, which clients of all protocols ignore. */
const COMMENT = ': keep-alive\n\n'

/** Ends a body in chunks (RFC 9112 §7.1). */
const LAST_CHUNK = '0\r\n\r\n'

/** Buffer limit before a meaningful event, then before the head. */
const HIGH_WATER = 64 * 1024

/** Milliseconds by which a heartbeat may be late. */
const TOLERANCE_MS = 20

const silences = new Deadlines<Relay>(TOLERANCE_MS)

/**
 * A stream to the client: held → begun → committed → ended → finished; or closed, from any of these.
 *
 * Held: events are buffered; a retry can still replace a failed attempt, invisibly to the client. Begun: a meaningful event has
 * arrived; the attempt can be replaced until this iteration of the event loop ends. Committed: events are sent as they arrive.
 * Ended: all events are there, and the last ones wait. Finished: the call's own side has recorded the end, so the client has it. Closed:
 * nothing more is written. A stream that fails is closed after one error frame and with a broken connection, because the official SDKs
 * read a plain end as success.
 */
export class Relay implements StreamSink, Expiring {
  previous: this | undefined
  next: this | undefined
  /** Of the silence. */
  deadline: number
  readonly #headDue = Promise.withResolvers<void>()
  readonly #wire: ClientWire
  /** The content type of the reply. */
  type = EVENTS
  #state: 'held' | 'begun' | 'committed' | 'ended' | 'finished' | 'closed' = 'held'
  #pending = ''
  /** The end marker. */
  #done = ''
  /** Of the frames so far. */
  #last = ''
  #encoding: 'latin1' | 'utf8' = 'utf8'
  #source: PausableSource | undefined
  #paused = false
  #response: RelayedResponse | undefined
  /** Whether the relay writes the frames of chunks itself. */
  #isChunked = false
  /** When it was committed, in monotonic milliseconds; undefined before. */
  firstByteAt: number | undefined
  readonly #heartbeat: number

  /** `heartbeat`: milliseconds of silence before a sign of life that keeps proxies and clients connected. */
  constructor(heartbeat: number, wire: ClientWire = OPENAI_WIRE) {
    this.#wire = wire
    this.#heartbeat = heartbeat
    this.deadline = performance.now() + heartbeat
    silences.add(this)
  }

  /** Resolves when the head may be sent: when the stream is committed, or was held for one heartbeat interval. */
  get headDue(): Promise<void> {
    return this.#headDue.promise
  }

  get begun(): boolean {
    return this.#state !== 'held'
  }

  /** No event may follow. */
  get ended(): boolean {
    return this.#state === 'ended' || this.#isOver
  }

  /** Finished or closed. */
  get #isOver(): boolean {
    return this.#state === 'finished' || this.#state === 'closed'
  }

  /** The head is sent: failures are now error frames. */
  get opened(): boolean {
    return this.#response !== undefined
  }

  attach(source: PausableSource, encoding: 'latin1' | 'utf8', type = EVENTS): void {
    this.#source = source
    this.type = type
    this.#encoding = encoding
    this.#pending = ''
    this.#last = ''
    this.#paused = false
    this.#state = 'held'
  }

  push(frame: string, meaningful: boolean): void {
    if (this.ended) return
    this.#pending += this.#framed(frame, this.#encoding)
    this.#last = frame
    if (meaningful && this.#state === 'held') this.#state = 'begun'
  }

  flush(): void {
    if (this.#pending === '') return
    if (this.#response !== undefined && this.#state === 'committed') this.#write(this.#response)
    else if (this.#pending.length > HIGH_WATER) this.#overflow()
  }

  commit(): void {
    if (this.#state !== 'held' && this.#state !== 'begun') return
    this.#state = 'committed'
    this.firstByteAt ??= performance.now()
    this.#headDue.resolve()
    if (this.#response === undefined) return
    this.#write(this.#response)
    if (!this.#response.writableNeedDrain) this.#resume()
  }

  /** Its source has no more events: the last ones, and the end marker, wait for `finish` or `fail`. */
  end(done: string): void {
    if (this.ended) return
    this.#done = this.#framed(done, this.#encoding)
    this.#state = 'ended'
    this.firstByteAt ??= performance.now()
  }

  /** The end is recorded: the client gets the last events and the end marker, now or with the head. */
  finish(): void {
    if (this.#isOver) return
    this.#state = 'finished'
    this.#letGo()
    if (this.#response !== undefined) this.#writeEnd(this.#response)
  }

  #writeEnd(response: ServerResponse): void {
    if (response.destroyed) return
    const encoding = this.#sentAs
    const last = this.#chunk(this.#pending + this.#done, encoding)
    response.end(last + (this.#isChunked ? LAST_CHUNK : ''), encoding)
  }

  /**
   * The call has failed: the client gets the pushed events, an error frame in place of the end marker, and a broken connection. Only after
   * `open`.
   */
  fail(error: GatewayError): void {
    if (this.#isOver) return
    this.close()
    const response = this.#response!
    if (this.#pending !== '') this.#send(response, this.#pending, this.#sentAs)
    this.#send(response, this.#framed(this.#wire.errorFrame(error, this.#last), 'utf8'), this.#wire.messages && 'latin1')
    // The frame must arrive, but no clean end (SDKs would read it as success).
    response.breakOff()
  }

  /** Writes the head and the buffered events: once, if the stream is not closed. */
  open(response: RelayedResponse): void {
    this.#response = response
    response.on('drain', this.#onDrain)
    if (this.#state === 'finished') this.#writeEnd(response)
    // Its last events are sent with its end, which follows in this turn of the event loop.
    if (this.ended) return
    this.#isChunked = beginUnframed(response)
    if (this.#state !== 'committed') this.#send(response, COMMENT)
    else if (this.#pending === '') response.flushHeaders()
    else this.#write(response)
    if (this.#state === 'committed' && !response.writableNeedDrain) this.#resume()
  }

  /** Writes nothing more: the client has gone, or has got an error in place of the stream. */
  close(): void {
    this.#state = 'closed'
    this.#letGo()
  }

  /** The attempt has nothing more to say: an idle connection, which keeps its last reply, keeps no attempt and no body. */
  #letGo(): void {
    silences.remove(this)
    this.#source = undefined
    this.#response?.off('drain', this.#onDrain)
  }

  readonly #onDrain = (): void => {
    if (this.#state === 'committed') this.#resume()
  }

  /** Nothing was sent for the time of a heartbeat. */
  onDeadline(): void {
    this.deadline = performance.now() + this.#heartbeat
    silences.expect(this.deadline)
    if (this.#wire.heartbeat === '') return
    this.#headDue.resolve()
    if (this.#response !== undefined && !this.#paused)
      this.#send(this.#response, this.#state === 'committed' ? this.#wire.heartbeat : COMMENT)
  }

  /** The buffer is full: a held stream begins, and the source pauses until commit and head. */
  #overflow(): void {
    if (this.#state === 'held') this.#state = 'begun'
    this.#pause()
  }

  #write(response: ServerResponse): void {
    const text = this.#pending
    this.#pending = ''
    this.deadline = performance.now() + this.#heartbeat
    if (text !== '' && !this.#send(response, text, this.#sentAs)) this.#pause()
  }

  /** Events as the client gets them. */
  #framed(events: string, encoding: 'latin1' | 'utf8'): string {
    return this.#wire.messages === undefined || events === '' ? events : this.#wire.messages(events, encoding)
  }

  /** Messages are bytes. */
  get #sentAs(): 'latin1' | 'utf8' {
    return this.#wire.messages === undefined ? this.#encoding : 'latin1'
  }

  /** Returns false if the client has not read what was sent before. */
  #send(response: ServerResponse, text: string, encoding: 'latin1' | 'utf8' = 'utf8'): boolean {
    return response.write(this.#chunk(text, encoding), encoding)
  }

  /** RFC 9112 §7.1. */
  #chunk(text: string, encoding: 'latin1' | 'utf8'): string {
    if (!this.#isChunked || text === '') return text
    const size = encoding === 'latin1' ? text.length : Buffer.byteLength(text)
    return `${size.toString(16)}\r\n${text}\r\n`
  }

  #pause(): void {
    if (this.#paused) return
    this.#paused = true
    this.#source?.pause()
  }

  #resume(): void {
    if (!this.#paused) return
    this.#paused = false
    this.#source?.resume()
  }
}
