import { GatewayError } from '../../errors.ts'
import { unsupportedParameter } from '../../sdk/parameters.ts'
import type { Member, ScannedObject } from '../json.ts'
import { unsealed } from '../kept-ids.ts'
import { isResponseId } from './own-ids.ts'

/** The events that clients send on a socket (openai-node 7.55, `ResponsesClientEvent`). */
const CREATE = 'response.create'

/** OpenAI's, of the names of lanes ("WebSocket mode", developers.openai.com, September 2026). */
const STREAM_ID = /^[\w.-]{1,256}$/

/** Members of the message alone; `stream` is always true in its request. */
const OF_MESSAGE: ReadonlySet<string> = new Set(['type', 'stream_id', 'generate', 'stream'])

/** The response that a turn goes on from, as far as its socket knows it. */
export interface KnownResponse {
  /** The model that made it, as the client named it. */
  readonly model: unknown
  /** Whether it says that the gateway, or its upstream, keeps it. */
  readonly isStored: boolean
  /** The items of its conversation, its own last. */
  items(): readonly Buffer[]
}

/** A message that begins a turn. */
export class TurnMessage {
  readonly #bytes: Buffer
  readonly #members: readonly Member[]
  readonly #refusal: GatewayError | undefined

  /** `scanned`: undefined if it is not JSON. The call of such a message has its bytes as its body, and is refused for them. */
  constructor(bytes: Buffer, scanned: ScannedObject | undefined) {
    this.#bytes = bytes
    this.#members = scanned?.members ?? []
    this.#refusal = this.isJson ? refusalOf((key) => this.#member(key)) : undefined
  }

  get isJson(): boolean {
    return this.#members.length > 0
  }

  /** What is wrong with the message itself. */
  get refusal(): GatewayError | undefined {
    return this.#refusal
  }

  /** The name of its lane; undefined for the one without a name, and for a name that is not valid. */
  get streamId(): string | undefined {
    const id = this.#member('stream_id')
    return isStreamId(id) ? id : undefined
  }

  get generates(): boolean {
    return this.#member('generate') !== false
  }

  get model(): unknown {
    return this.#member('model')
  }

  /** The id of the response that it goes on from. */
  get previous(): string | undefined {
    const id = this.#member('previous_response_id')
    return typeof id === 'string' ? id : undefined
  }

  /** Whether only its socket can know the response that it goes on from. */
  get storesNothing(): boolean {
    return this.#member('store') === false
  }

  /** The items of its input, without brackets; empty if there are none. */
  get input(): Buffer {
    const found = this.#members.find(({ key }) => key === 'input')
    if (found === undefined) return NOTHING
    const { start, end } = found
    if (this.#bytes[start] === QUOTE) return Buffer.concat([USER_BEGIN, this.#bytes.subarray(start, end), USER_END])
    if (this.#bytes[start] !== BRACKET) return NOTHING
    const items = this.#bytes.subarray(start + 1, end - 1)
    return BLANK.test(items.toString('latin1', 0, Math.min(items.length, FIRST_BYTES))) ? NOTHING : items
  }

  /**
   * The body of its call. `previous`: what its socket knows of the response that it goes on from; then the items of that conversation come
   * before its own, unless the gateway keeps it, or the upstream of the same model.
   */
  body(previous: KnownResponse | undefined): Buffer {
    if (!this.isJson) return this.#bytes
    const isKept = previous === undefined || this.#isKept(previous)
    const pieces: Buffer[] = [BEGIN]
    for (const { key, at, end } of this.#members) {
      if (OF_MESSAGE.has(key) || (!isKept && (key === 'previous_response_id' || key === 'input'))) continue
      pieces.push(COMMA, this.#bytes.subarray(at, end))
    }
    if (!isKept) pieces.push(INPUT, ...joined([...previous.items(), this.input]), INPUT_END)
    pieces.push(END)
    return Buffer.concat(pieces)
  }

  /** Whether a call by HTTP may refer to the response that it goes on from. */
  #isKept({ model, isStored }: KnownResponse): boolean {
    return unsealed(this.previous) === undefined ? isStored && isResponseId(this.previous) : model === this.model
  }

  #member(key: string): unknown {
    const found = this.#members.find((member) => member.key === key)
    if (found === undefined || found.end - found.start > MAX_SMALL) return undefined
    try {
      return JSON.parse(this.#bytes.toString('utf8', found.start, found.end))
    } catch {
      // The body of its call has it too, or is refused for it.
      return undefined
    }
  }
}

/** Pieces of lists of items, with commas between those that are not empty. */
const joined = (pieces: readonly Buffer[]): readonly Buffer[] =>
  pieces.filter(({ length }) => length > 0).flatMap((piece, index) => (index === 0 ? [piece] : [COMMA, piece]))

function refusalOf(member: (key: string) => unknown): GatewayError | undefined {
  const type = member('type')
  if (type !== CREATE) {
    const detail = `this socket takes events of type '${CREATE}'`
    return new GatewayError('invalid_value', { param: 'type', values: { detail } })
  }
  // A turn ends with its socket ("WebSocket mode", developers.openai.com, September 2026: without `background`).
  if (member('background') === true)
    return unsupportedParameter('background', 'A turn on a socket has no background: send the call by HTTP.')
  const id = member('stream_id')
  return id == null || isStreamId(id) ? undefined : new GatewayError('invalid_stream_id', { param: 'stream_id' })
}

const isStreamId = (id: unknown): id is string => typeof id === 'string' && STREAM_ID.test(id)

/** In bytes: longer than any member that is read. */
const MAX_SMALL = 4096
/** Enough to see whether a list is empty: more white space is no list of a client's. */
const FIRST_BYTES = 1024
const BLANK = /^\s*$/
const QUOTE = 0x22
const BRACKET = 0x5b

const NOTHING = Buffer.alloc(0)
const BEGIN = Buffer.from('{"stream":true')
const COMMA = Buffer.from(',')
const INPUT = Buffer.from(',"input":[')
const INPUT_END = Buffer.from(']')
const END = Buffer.from('}')
const USER_BEGIN = Buffer.from('{"type":"message","role":"user","content":')
const USER_END = Buffer.from('}')
