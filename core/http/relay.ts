import type { ServerResponse } from 'node:http'
import type { GatewayError } from '../errors.ts'

/** Where the events come from: one attempt's connection, or a chain plugin's own reply. */
export interface Source {
  pause(): void
  resume(): void
}

/** Milliseconds of the relay's own clocks. */
export interface RelayTimes {
  /** Silence after which a comment keeps proxies and clients from giving up. */
  readonly heartbeat: number
  /** How long a client may take no bytes at all before it is cut off. */
  readonly writeStall: number
}

/** What the call hears of its relay. */
export interface RelayListener {
  /** The head may go out: the reply is committed, or has been held for as long as a heartbeat may wait. Called once. */
  onHead(): void
  /** The first event that carries something left. Called once. */
  onFirstByte(): void
}

/** What those who read a stream know of the relay: a place for its events. */
export interface EventSink {
  /** There is no way back any more: what is pushed leaves. */
  readonly committed: boolean
  /** Adds one event. The first meaningful one commits. */
  push(frame: string, meaningful: boolean): void
  /** Writes what was pushed, in one piece. Call it once per piece of upstream bytes. */
  flush(): void
  /** Ends well: what is left, and the end marker. */
  end(done: string): void
}

const HEARTBEAT = ': keep-alive\n\n'

/** Bytes that may wait for a meaningful event, and then for the head. */
const HIGH_WATER = 64 * 1024

/**
 * A stream on its way to the client: held → committed → ended.
 *
 * Held: events wait, and a failing attempt can still be replaced by another without the client noticing. Committed: they leave as
 * they come. Ended: by a finish and `[DONE]`, or by one error frame and a broken connection: a bare end reads as success in the
 * official SDKs.
 */
export class Relay implements EventSink {
  readonly #times: RelayTimes
  readonly #listener: RelayListener
  #state: 'held' | 'committed' | 'ended' = 'held'
  #pending = ''
  #encoding: 'latin1' | 'utf8' = 'utf8'
  #source: Source | undefined
  #paused = false
  #response: ServerResponse | undefined
  #headDue = false
  #silence: NodeJS.Timeout
  #stall: NodeJS.Timeout | undefined

  constructor(times: RelayTimes, listener: RelayListener) {
    this.#times = times
    this.#listener = listener
    this.#silence = setTimeout(() => this.#onSilence(), times.heartbeat)
  }

  get committed(): boolean {
    return this.#state !== 'held'
  }

  get ended(): boolean {
    return this.#state === 'ended'
  }

  /** The head is out: from here on failures are error frames. */
  get opened(): boolean {
    return this.#response !== undefined
  }

  /** Takes events from another source; what the one before left uncommitted is dropped. `latin1`: frames are raw bytes. */
  attach(source: Source, encoding: 'latin1' | 'utf8'): void {
    this.#source = source
    this.#encoding = encoding
    this.#pending = ''
    this.#paused = false
  }

  push(frame: string, meaningful: boolean): void {
    if (this.#state === 'ended') return
    this.#pending += frame
    if (meaningful && this.#state === 'held') this.#commit()
  }

  flush(): void {
    if (this.#pending === '') return
    if (this.#response !== undefined && this.#state === 'committed') this.#write(this.#response)
    else if (this.#pending.length > HIGH_WATER) this.#overflow()
  }

  end(done: string): void {
    if (this.#state === 'held') this.#commit()
    this.#pending += done
    this.#state = 'ended'
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
    else this.#resume()
  }

  /** The connection is gone, or the call failed before its head: nothing more is written. */
  close(): void {
    this.#state = 'ended'
    clearTimeout(this.#silence)
    clearTimeout(this.#stall)
  }

  /** A stream is not held for ever; one whose head waits goes no further. */
  #overflow(): void {
    if (this.#state === 'held') this.#commit()
    if (this.#response === undefined) this.#pause()
    else this.#write(this.#response)
  }

  #commit(): void {
    this.#state = 'committed'
    this.#listener.onFirstByte()
    this.#announceHead()
  }

  #announceHead(): void {
    if (this.#headDue) return
    this.#headDue = true
    this.#listener.onHead()
  }

  #finish(): void {
    if (this.#response === undefined) return
    this.#leave(this.#response)
    this.#response.end(this.#pending, this.#encoding)
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
    this.#announceHead()
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
