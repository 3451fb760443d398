import { isRecord } from '../../sdk/json.ts'
import { parseUpstreamObject } from '../upstream-json.ts'
import type { KnownResponse, TurnMessage } from './turn-message.ts'
import type { TurnEvents } from './turn-wire.ts'
import type { Members } from './wire.ts'

/** Room for what sockets remember. */
export interface StateMemory {
  /** Throws if there is no room. */
  take(bytes: number): void
  release(): void
}

/** The most that one socket remembers, in bytes: as much as the largest body of a call has. */
const MOST_BYTES = 32 << 20

/** A response that a socket remembers. */
interface Remembered extends KnownResponse {
  readonly id: string
  /** What came before it, its own input, and the events that have its items. */
  readonly pieces: readonly Buffer[]
  readonly memory: StateMemory
}

/**
 * What a socket remembers: the newest response of each lane, as OpenAI's do ("WebSocket mode", developers.openai.com, September 2026). Nothing else keeps
 * a response with `store: false`.
 */
export class SocketState {
  readonly #newMemory: () => StateMemory
  readonly #byLane = new Map<string | undefined, Remembered>()

  constructor(newMemory: () => StateMemory) {
    this.#newMemory = newMemory
  }

  /** A response of any lane, by its id. */
  find(id: string | undefined): KnownResponse | undefined {
    return id === undefined ? undefined : this.#byLane.values().find((each) => each.id === id)
  }

  /** A turn has its response: it takes the place of the one before in its lane. Without room for it, the lane remembers nothing. */
  keep(message: TurnMessage, record: TurnRecord): void {
    const { id, events } = record
    const lane = message.streamId
    const previous = this.find(message.previous)
    this.#forget(lane)
    // Of a conversation that only the upstream keeps, the socket knows a part.
    if (id === undefined || (message.previous !== undefined && previous === undefined)) return
    const before = previous?.items() ?? []
    const input = message.input
    const bytes = [...before, input, ...events].reduce((sum, { length }) => sum + length, 0)
    if (bytes > MOST_BYTES) return
    const memory = this.#newMemory()
    if (!hasTaken(memory, bytes)) return
    // The message is a part of what its client has sent: a copy keeps nothing else.
    const pieces = [...before, Buffer.from(input)]
    const items = (): readonly Buffer[] => [...pieces, ...events.flatMap(itemsIn)]
    const isStored = record.isStored && !message.storesNothing
    this.#byLane.set(lane, { id, model: message.model, isStored, pieces, memory, items })
  }

  /** A turn has failed: the response that it went on from is forgotten, if it is of the same lane. */
  failed({ streamId, previous }: TurnMessage): void {
    if (previous !== undefined && this.#byLane.get(streamId)?.id === previous) this.#forget(streamId)
  }

  /** The socket is closed. */
  release(): void {
    for (const lane of this.#byLane.keys()) this.#forget(lane)
  }

  #forget(lane: string | undefined): void {
    this.#byLane.get(lane)?.memory.release()
    this.#byLane.delete(lane)
  }
}

/** Takes memory, if there is room for it. */
function hasTaken(memory: StateMemory, bytes: number): boolean {
  try {
    memory.take(bytes)
    return true
  } catch {
    return false
  }
}

/** What a turn has got: the id of its response, and the events that have its items. Released when the turn has ended. */
export class TurnRecord implements TurnEvents {
  /** Undefined if it has no whole response, or one for which there is no room. */
  id: string | undefined
  events: Buffer[] = []
  /** Whether the response says that it is kept, by the gateway or by its upstream. */
  isStored = false
  #created: string | undefined
  #bytes = 0
  #hasRoom = true
  readonly #newMemory: (() => StateMemory) | undefined
  #memory: StateMemory | undefined

  /** `newMemory`: for its events; absent: of what is no turn. */
  constructor(newMemory?: () => StateMemory) {
    this.#newMemory = newMemory
    this.#memory = newMemory?.()
  }

  release(): void {
    this.#memory?.release()
  }

  read(type: string, data: string, encoding: 'latin1' | 'utf8'): void {
    if (type === 'response.output_item.done') this.#add(Buffer.from(data, encoding))
    else if (type === 'response.created') this.#begin(data)
    else if (ENDS.has(type)) {
      // Some upstreams send no items of their own.
      if (this.events.length === 0) this.#add(Buffer.from(data, encoding))
      if (this.#hasRoom) this.id = this.#created
    }
  }

  /** Of an attempt before that came to nothing, the client has got no event. */
  #begin(data: string): void {
    this.#created = idIn(data)
    this.isStored = STORED.test(data)
    this.events = []
    this.#bytes = 0
    this.#hasRoom = true
    this.release()
    this.#memory = this.#newMemory?.()
  }

  #add(event: Buffer): void {
    this.#bytes += event.length
    this.#hasRoom &&= this.#bytes <= MOST_BYTES && (this.#memory === undefined || hasTaken(this.#memory, event.length))
    if (this.#hasRoom) this.events.push(event)
    else this.events = []
  }
}

/** Events that end a response from which another one may go on. */
const ENDS: ReadonlySet<string> = new Set(['response.completed', 'response.incomplete'])

/** Upstreams write the id first: the response repeats the tools and the instructions of the request. */
const ID_FIRST = /"response"\s*:\s*\{\s*"id"\s*:\s*"([\w.:-]+)"/

/** No string of JSON contains it: a quote in one has a backslash before it. */
const STORED = /"store"\s*:\s*true\b/

function idIn(data: string): string | undefined {
  const first = ID_FIRST.exec(data)?.[1]
  if (first !== undefined) return first
  const response = parseUpstreamObject(Buffer.from(data, 'latin1'))?.response
  return isRecord(response) && typeof response.id === 'string' ? response.id : undefined
}

/** The items of an event, as they come back in a request. Reasoning without its content is known only by the upstream that keeps it. */
function itemsIn(event: Buffer): readonly Buffer[] {
  const { item, response } = parseUpstreamObject(event) ?? {}
  const items: readonly unknown[] = isRecord(response) && Array.isArray(response.output) ? response.output : [item]
  return items.filter((each) => isRecord(each) && !isForgotten(each)).map((each) => Buffer.from(JSON.stringify(each)))
}

const isForgotten = ({ type, encrypted_content: content }: Members): boolean =>
  type === 'reasoning' && typeof content !== 'string'
