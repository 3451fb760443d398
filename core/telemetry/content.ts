import type { ChatChunk, ChatCompletion, ChatRequest, ReplyTransform } from '../sdk/api.ts'

/** What a call's client asked and was answered, in JSON by OpenTelemetry's schemas of messages. */
export interface ContentRecord {
  /** Absent: the body was too large to be parsed. */
  readonly input?: string
  readonly output: string
  /** Texts were cut, or messages left out. */
  readonly isCut: boolean
}

/** A part of a message: of a text, a tool call, its result, or the type alone. */
interface Part {
  readonly type: string
  readonly [key: string]: string | undefined
}

type Fields = Readonly<Record<string, unknown>>

/** What the names and ids of a message and of a part count, in characters: there may be many without any text. */
const OVERHEAD = 32

/**
 * The content of a chat completion: the request after all links have changed it, and what its client gets after all have. Clients, upstreams
 * and plugins may have written any value into either.
 */
export class CallContent {
  readonly #limit: number
  readonly #request: Readonly<ChatRequest> | undefined
  #choices = new Map<number, Answer>()
  #room: Room

  /** `request`: absent if it is not captured. `limit`: characters of the texts of the request, and as many of the reply. */
  constructor(request: Readonly<ChatRequest> | undefined, limit: number) {
    this.#request = request
    this.#limit = limit
    this.#room = new Room(limit)
  }

  /** Reads what the client gets, and changes nothing. */
  readonly transform: ReplyTransform = {
    chunk: (chunk: ChatChunk) => {
      for (const { index, delta } of chunk.choices) this.#answer(index).read(delta, this.#room)
      return chunk
    },
    completion: (completion: ChatCompletion) => {
      for (const { index, message } of completion.choices) this.#answer(index).read(message, this.#room)
      return completion
    },
  }

  /** Another attempt begins: the client gets nothing of the one before. */
  restart(): void {
    this.#choices = new Map()
    this.#room = new Room(this.#limit)
  }

  get record(): ContentRecord {
    const room = new Room(this.#limit)
    const input = this.#request && JSON.stringify(inputOf(this.#request.messages, room))
    const output = JSON.stringify(Array.from(this.#choices.values(), ({ parts }) => ({ role: 'assistant', parts })))
    return { ...(input !== undefined && { input }), output, isCut: room.isFull || this.#room.isFull }
  }

  #answer(index: number): Answer {
    const answer = this.#choices.get(index) ?? new Answer()
    this.#choices.set(index, answer)
    return answer
  }
}

/** How many characters may still be captured. */
class Room {
  /** Something was left out. */
  isFull = false
  #left: number

  constructor(limit: number) {
    this.#left = limit
  }

  /** The beginning of a text, as much as there is room for. */
  take(text: string): string {
    if (text.length > this.#left) this.isFull = true
    const taken = text.slice(0, this.#left).toWellFormed()
    this.#left -= taken.length
    return taken
  }

  /** Whether there is room for one more message or part. */
  hasPlace(): boolean {
    if (this.#left < OVERHEAD) this.isFull = true
    else this.#left -= OVERHEAD
    return !this.isFull
  }
}

/** One choice of a reply, from its message, or from the pieces of a stream. */
class Answer {
  readonly #texts = new Map<string, string>()
  readonly #calls = new Map<number, { readonly id: string; readonly name: string; text: string }>()

  read(message: unknown, room: Room): void {
    const { reasoning_content, content, refusal, tool_calls } = fieldsOf(message)
    for (const [type, text] of [
      ['reasoning', reasoning_content],
      ['text', content],
      ['refusal', refusal],
    ] as const)
      if (typeof text === 'string' && text !== '') this.#texts.set(type, (this.#texts.get(type) ?? '') + room.take(text))
    for (const [position, call] of listOf(tool_calls).entries()) {
      const { index, id, function: called, custom } = fieldsOf(call)
      const { name, arguments: text, input } = fieldsOf(called ?? custom)
      const key = typeof index === 'number' ? index : position
      if (!this.#calls.has(key) && room.hasPlace())
        this.#calls.set(key, { id: room.take(textOf(id)), name: room.take(textOf(name)), text: '' })
      const known = this.#calls.get(key)
      if (known !== undefined) known.text += room.take(textOf(text ?? input))
    }
  }

  get parts(): readonly Part[] {
    const texts = Array.from(this.#texts, ([type, content]) => ({ type, content }))
    const calls = Array.from(this.#calls.values(), ({ id, name, text }) => ({ type: 'tool_call', id, name, arguments: text }))
    return [...texts, ...calls]
  }
}

/** The newest messages, as many as there is room for. */
function inputOf(messages: unknown, room: Room): readonly object[] {
  const captured: object[] = []
  for (const message of listOf(messages).toReversed()) {
    if (!room.hasPlace()) break
    const { role } = fieldsOf(message)
    captured.push({ role: room.take(textOf(role)), parts: inputParts(fieldsOf(message), room) })
  }
  return captured.reverse()
}

function inputParts(message: Fields, room: Room): readonly Part[] {
  const { role, tool_call_id, content } = message
  if (role === 'tool')
    return [{ type: 'tool_call_response', id: room.take(textOf(tool_call_id)), response: room.take(textsIn(content).join('\n')) }]
  const answer = new Answer()
  answer.read({ ...message, content: typeof content === 'string' ? content : null }, room)
  const parts = listOf(content).flatMap((part): Part[] => {
    const { type, text, refusal } = fieldsOf(part)
    if (!room.hasPlace()) return []
    // Images, sounds and files are named only.
    return [
      type === 'text' || type === 'refusal'
        ? { type, content: room.take(textOf(text ?? refusal)) }
        : { type: room.take(textOf(type)) },
    ]
  })
  return [...parts, ...answer.parts]
}

const textsIn = (content: unknown): readonly string[] =>
  typeof content === 'string' ? [content] : listOf(content).map((part) => textOf(fieldsOf(part).text))

const fieldsOf = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {})

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
