import { setTimeout as delay } from 'node:timers/promises'
import { GatewayError, UpstreamFailure } from '../errors.ts'
import type { BackgroundResponses, NumberedEvent } from '../kept/background-responses.ts'
import { framesIn, isFirstOrLast, renumbered } from '../protocol/responses/background.ts'
import type { PausableSource, StreamSink } from '../upstream/readers/stream-sink.ts'

/** Times that the store is asked, a second apart: a database that is restarted loses nothing. */
const TRIES = 10

/** Asks the store again while it cannot be reached. Rejects if that lasts. */
export async function untilReached<Result>(ask: () => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries++) {
    try {
      return await ask()
    } catch (error) {
      if (tries === TRIES) throw error
      await delay(1000)
    }
  }
}

/** Characters of events that are held before an attempt is committed, as of other streams. */
const HIGH_WATER = 64 * 1024
/** How long events wait for others, to be kept with them, in milliseconds. */
const WAIT_MS = 250
/** Characters of events in memory at which the upstream is paused until they are kept. */
const MAX_WAITING = 1 << 20
/** The most characters of events of a response. */
const MAX_EVENTS = 16 << 20

/** What a log needs of its response. */
export interface LogOptions {
  readonly id: string
  readonly responses: Pick<BackgroundResponses, 'putEvents'>
  /** How many events are kept already, as its first part. */
  readonly begun: number
  /** The events cannot be kept: the call must end. */
  onFailed(error: GatewayError): void
}

/**
 * The events of a background response: numbered one after the other, kept in parts, and in memory until they are. Nobody need read them while
 * they are made.
 */
export class EventLog implements StreamSink {
  readonly #options: LogOptions
  #state: 'held' | 'begun' | 'committed' | 'ended' = 'held'
  /** Of an attempt that is not committed. */
  #held: string[] = []
  #heldSize = 0
  #encoding: 'latin1' | 'utf8' = 'utf8'
  #source: PausableSource | undefined
  #isPaused = false
  /** What is not kept yet. */
  #waiting: NumberedEvent[] = []
  #waitingSize = 0
  #size = 0
  /** The number of the next event. */
  next: number
  /** How many parts are kept. */
  parts = 1
  #keeping: Promise<void> | undefined
  #changed = Promise.withResolvers<void>()
  /** The response has ended: a reader of its events finds its end in the store. */
  isClosed = false

  constructor(options: LogOptions) {
    this.#options = options
    this.next = options.begun
  }

  get begun(): boolean {
    return this.#state !== 'held'
  }

  get ended(): boolean {
    return this.#state === 'ended'
  }

  attach(source: PausableSource, encoding: 'latin1' | 'utf8'): void {
    this.#source = source
    this.#encoding = encoding
    this.#held = []
    this.#heldSize = 0
    this.#state = 'held'
  }

  push(text: string, meaningful: boolean): void {
    if (this.ended) return
    this.#held.push(text)
    this.#heldSize += text.length
    if (this.#state === 'held' && (meaningful || this.#heldSize > HIGH_WATER)) this.#state = 'begun'
  }

  flush(): void {
    if (this.#state === 'committed') this.#take()
  }

  commit(): void {
    if (this.ended) return
    this.#state = 'committed'
    this.#take()
  }

  end(): void {
    this.#state = 'ended'
  }

  /** Its last attempt is recorded. */
  finish(): void {
    this.#take()
  }

  /** Resolves when all events are kept, or cannot be. */
  async kept(): Promise<void> {
    this.#state = 'ended'
    await this.#keeping
    if (this.#waiting.length > 0) await this.#keep()
  }

  close(): void {
    this.isClosed = true
    this.#notify()
  }

  /** The events from a number on; undefined if the first of them is no longer in memory. */
  from(number: number): readonly NumberedEvent[] | undefined {
    const first = this.#waiting[0]?.[0] ?? this.next
    return number < first ? undefined : this.#waiting.slice(number - first)
  }

  /** Resolves at the next change. */
  get changed(): Promise<void> {
    return this.#changed.promise
  }

  #take(): void {
    const text = this.#held.join('')
    this.#held = []
    this.#heldSize = 0
    if (text === '') return
    // A frame in `latin1` is raw bytes.
    const decoded = this.#encoding === 'latin1' ? Buffer.from(text, 'latin1').toString() : text
    for (const frame of framesIn(decoded)) if (!isFirstOrLast(frame)) this.#add(frame)
    this.#notify()
    if (this.#size > MAX_EVENTS) this.#fail(new UpstreamFailure('REPLY_TOO_LARGE'))
    if (this.#waitingSize > MAX_WAITING) this.#pause()
    this.#keepSoon()
  }

  #add(frame: string): void {
    const event = [this.next, renumbered(frame, this.next)] as const
    this.next++
    this.#waiting.push(event)
    this.#waitingSize += frame.length
    this.#size += frame.length
  }

  #keepSoon(): void {
    this.#keeping ??= delay(WAIT_MS)
      .then(() => this.#keep())
      .finally(() => {
        this.#keeping = undefined
      })
  }

  async #keep(): Promise<void> {
    const { id, responses } = this.#options
    while (this.#waiting.length > 0) {
      const events = [...this.#waiting]
      const result = await untilReached(() => responses.putEvents(id, this.parts, events)).catch((error: unknown) => error)
      if (result !== 'kept') return this.#fail(result)
      this.parts++
      this.#waiting.splice(0, events.length)
      for (const [, frame] of events) this.#waitingSize -= frame.length
      this.#resume()
    }
  }

  #fail(cause: unknown): void {
    const row = cause instanceof UpstreamFailure ? 'upstream_invalid_response' : 'kept_responses_unavailable'
    this.#options.onFailed(new GatewayError(row, { cause }))
  }

  #notify(): void {
    this.#changed.resolve()
    this.#changed = Promise.withResolvers()
  }

  #pause(): void {
    if (this.#isPaused) return
    this.#isPaused = true
    this.#source?.pause()
  }

  #resume(): void {
    if (!this.#isPaused) return
    this.#isPaused = false
    this.#source?.resume()
  }
}
