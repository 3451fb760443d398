import type { ServerResponse } from 'node:http'
import type { GatewayError } from '../errors.ts'
import type { PausableSource, StreamSink } from '../upstream/readers/stream-sink.ts'

/** Milliseconds of the relay's own clocks. */
export interface RelayTimes {
  /** Silence after which a comment keeps proxies and clients from giving up. */
  readonly heartbeat: number
  /** How long a client may take no bytes at all before it is cut off. */
  readonly writeStall: number
}

/** Hears of the progress of a relay. */
export interface RelayListener {
  /** A stream was held for as long as a client waits for a sign of life: the head may go out. */
  onHeadDue(): void
  /** The stream is committed. Called once. */
  onFirstByte(): void
}

const HEARTBEAT = ': keep-alive\n\n'

/** Bytes that may wait for a meaningful event, and then for the head. */
const HIGH_WATER = 64 * 1024

/**
 * A stream on its way to the client: held → begun → committed → ended.
 *
 * Held: events wait, and a failing attempt can still be replaced by another without the client noticing. Begun: something
 * meaningful came, and the attempt lives to the end of the turn of the event loop or is replaced. Committed: events leave as they come.
 * Ended: by a finish and `[DONE]`, or by one error frame and a broken connection: a bare end reads as success in the
 * official SDKs.
 */
export class Relay implements StreamSink {
  readonly #times: RelayTimes
  readonly #listener: RelayListener
  #state: 'held' | 'begun' | 'committed' | 'ended' = 'held'
  #pending = ''
  #encoding: 'latin1' | 'utf8' = 'utf8'
  #source: PausableSource | undefined
  #paused = false
  #response: ServerResponse | undefined
  #hasFirstByte = false
  #silence: NodeJS.Timeout
  #stall: NodeJS.Timeout | undefined

  constructor(times: RelayTimes, listener: RelayListener) {
    this.#times = times
    this.#listener = listener
    this.#silence = setTimeout(() => this.#onSilence(), times.heartbeat)
  }

  get begun(): boolean {
    return this.#state !== 'held'
  }

  get ended(): boolean {
    return this.#state === 'ended'
  }

  /** The head is out: from here on failures are error frames. */
  get opened(): boolean {
    return this.#response !== undefined
  }

  attach(source: PausableSource, encoding: 'latin1' | 'utf8'): void {
    this.#source = source
    this.#encoding = encoding
    this.#pending = ''
    this.#paused = false
    this.#state = 'held'
  }

  push(frame: string, meaningful: boolean): void {
    if (this.#state === 'ended') return
    this.#pending += frame
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
    this.#tellFirstByte()
    if (this.#response === undefined) return
    this.#write(this.#response)
    if (!this.#response.writableNeedDrain) this.#resume()
  }

  end(done: string): void {
    this.#pending += done
    this.#state = 'ended'
    this.#tellFirstByte()
    this.#finish()
  }

  /** Ends badly: one error frame, then a broken connection. Only after the head is out. */
  fail(error: GatewayError): void {
    if (this.#state === 'ended') return
    this.#state = 'ended'
    const response = this.#response!
    this.#leave(response)
    if (this.#pending !== '') response.write(this.#pending, this.#encoding)
    response.write(`data: ${JSON.stringify(error)}\n\n`)
    // destroySoon, not destroy: the frame must arrive, and a clean end must not (it would read as success).
    response.socket?.destroySoon()
  }

  /** Writes the head, and all that waited for it. */
  open(response: ServerResponse): void {
    this.#response = response
    response.on('drain', () => this.#onDrain())
    if (this.#state === 'ended') {
      this.#finish()
      return
    }
    if (this.#state === 'committed') this.#write(response)
    else response.write(HEARTBEAT)
    if (response.writableNeedDrain) this.#armStall(response)
    else if (this.#state === 'committed') this.#resume()
  }

  /** The connection is gone, or the call failed before its head: nothing more is written. */
  close(): void {
    this.#state = 'ended'
    clearTimeout(this.#silence)
    clearTimeout(this.#stall)
  }

  /** A stream is not held for ever; one that waits for its commit or its head goes no further. */
  #overflow(): void {
    if (this.#state === 'held') this.#state = 'begun'
    this.#pause()
  }

  #finish(): void {
    if (this.#response === undefined) return
    this.#leave(this.#response)
    this.#response.end(this.#pending, this.#encoding)
  }

  #tellFirstByte(): void {
    if (this.#hasFirstByte) return
    this.#hasFirstByte = true
    this.#listener.onFirstByte()
  }

  #write(response: ServerResponse): void {
    const text = this.#pending
    this.#pending = ''
    this.#silence.refresh()
    if (text !== '' && !response.write(text, this.#encoding)) this.#pause()
  }

  #pause(): void {
    if (this.#paused) return
    this.#paused = true
    this.#source?.pause()
    if (this.#response !== undefined) this.#armStall(this.#response)
  }

  #resume(): void {
    if (!this.#paused) return
    this.#paused = false
    this.#source?.resume()
  }

  #onDrain(): void {
    clearTimeout(this.#stall)
    if (this.#state === 'committed') this.#resume()
  }

  #onSilence(): void {
    if (this.#response === undefined) this.#listener.onHeadDue()
    if (this.#response !== undefined && !this.#paused) this.#response.write(HEARTBEAT)
    this.#silence.refresh()
  }

  /** The last bytes are on their way: no more heartbeats, and no waiting for ever until they are taken. */
  #leave(response: ServerResponse): void {
    clearTimeout(this.#silence)
    this.#armStall(response)
  }

  #armStall(response: ServerResponse): void {
    clearTimeout(this.#stall)
    this.#stall = setTimeout(() => response.destroy(), this.#times.writeStall)
  }
}
