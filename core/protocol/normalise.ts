import { randomUUID } from 'node:crypto'
import type {
  ChatChunk,
  ChatCompletion,
  ChatDelta,
  ToolCall,
  ToolCallDelta,
  TranslatedChoice,
  TranslatedChunk,
  TranslatedCompletion,
  Usage,
} from '../sdk/api.ts'
import { FINISH_REASONS, type FinishReason } from '../sdk/chat.ts'
import { isRecord } from '../sdk/json.ts'
import { readUsage } from './usage.ts'

/**
 * Makes OpenAI's stream out of a translator's parts: constant id, created and model; the role once per choice; tool calls numbered
 * from 0 in order of appearance; one finish per choice, from the enum, only once the upstream has ended; usage in its own chunk, if
 * asked for (protocol: `CreateChatCompletionStreamResponse`).
 */
export class StreamNormaliser {
  readonly #model: string
  readonly #includeUsage: boolean
  /** How many choices the client asked for. */
  readonly #asked: number
  readonly #choices = new Map<number, ChoiceState>()
  /** What all chunks have in common, in OpenAI's order. */
  #envelope: ChatChunk | undefined
  #usage: Usage | undefined

  constructor(call: { readonly model: string; readonly includeUsage: boolean; readonly choices: number }) {
    this.#asked = call.choices
    this.#model = call.model
    this.#includeUsage = call.includeUsage
  }

  /** What the upstream said it used: the last word counts. */
  get usage(): Usage | undefined {
    return readUsage(this.#usage)
  }

  /** The chunks that one part becomes. */
  push(part: TranslatedChunk): readonly ChatChunk[] {
    this.#envelope ??= this.#begin(part.id || newId())
    if (part.usage != null) this.#usage = { ...this.#usage, ...part.usage }
    const extras = extrasOf(part)
    const chunks: ChatChunk[] = []
    for (const choice of part.choices) this.#choice(choice, extras, chunks)
    return chunks
  }

  /** The chunks held back for the end. Undefined where a choice never finished: the stream was cut. */
  end(): ChatChunk[] | undefined {
    const chunks: ChatChunk[] = []
    for (const [index, { finish, tools, extras }] of this.#choices) {
      if (finish === undefined) return undefined
      for (const call of tools.values()) {
        // A tool called without arguments: clients parse the concatenation, and '' is not JSON.
        const missing = { tool_calls: [{ index: call.index, function: { arguments: '{}' } }] }
        if (call.isFunction && call.empty) chunks.push(this.#chunk({ index, delta: missing, finish_reason: null }))
      }
      chunks.push(this.#chunk({ ...extras, index, delta: {}, finish_reason: finishOf(finish, tools.size > 0) }))
    }
    if (this.#choices.size < this.#asked) return undefined
    const { usage } = this
    if (this.#includeUsage && usage !== undefined) chunks.push({ ...this.#envelope!, usage })
    return chunks
  }

  #choice(choice: TranslatedChoice, extras: object | undefined, chunks: ChatChunk[]): void {
    const { index = 0, delta, finish_reason } = choice
    const state = this.#state(index)
    const said = delta && state.read(delta)
    if (!state.started) {
      state.started = true
      const opening = { index, delta: { role: 'assistant' as const, content: '' }, finish_reason: null }
      chunks.push(this.#chunk(opening, said === undefined ? extras : undefined))
    }
    if (said === undefined) Object.assign(state.extras, choice)
    else chunks.push(this.#chunk({ ...choice, index, delta: said, finish_reason: null }, extras))
    if (finish_reason != null) state.finish ??= finish_reason
  }

  #state(index: number): ChoiceState {
    const known = this.#choices.get(index)
    if (known !== undefined) return known
    const state = new ChoiceState()
    this.#choices.set(index, state)
    return state
  }

  #begin(id: string): ChatChunk {
    const envelope: ChatChunk = { id, object: 'chat.completion.chunk', created: unixSeconds(), model: this.#model, choices: [] }
    return this.#includeUsage ? { ...envelope, usage: null } : envelope
  }

  /** `extras`: fields that only this upstream has. */
  #chunk(choice: ChatChunk['choices'][number], extras?: object): ChatChunk {
    return { ...extras, ...this.#envelope!, choices: [choice] }
  }
}

/** What a part has beside what OpenAI's chunks have; nearly always nothing. */
function extrasOf(part: TranslatedChunk): object | undefined {
  let extras: Record<string, unknown> | undefined
  for (const key in part) {
    if (key === 'choices' || key === 'usage' || key === 'id') continue
    extras ??= {}
    extras[key] = part[key]
  }
  return extras
}

class ChoiceState {
  started = false
  /** In the upstream's words. */
  finish: string | undefined
  /** What came beside an empty delta: its fields travel with the finish. */
  readonly extras: Record<string, unknown> = {}
  /** By the upstream's own number; where it gives none, by the id. */
  readonly tools = new Map<number | string, StreamedCall>()
  /** The key of the call that the last part belongs to. */
  #latest: number | string = 0

  /** What a delta says, its tool calls numbered as the client counts; undefined where it says nothing. */
  read(delta: ChatDelta): ChatDelta | undefined {
    const said = withoutEmpty(delta)
    if (!Array.isArray(said?.tool_calls)) return said
    return { ...said, tool_calls: said.tool_calls.map((part) => (isRecord(part) ? this.#renumber(part) : part)) }
  }

  #renumber(part: ToolCallDelta): ToolCallDelta {
    this.#latest = part.index ?? (part.id || this.#latest)
    const known = this.tools.get(this.#latest)
    const call = known ?? { index: this.tools.size, isFunction: isFunction(part), empty: true }
    this.tools.set(this.#latest, call)
    if (!call.isFunction) return { ...part, index: call.index }
    const text = part.function?.arguments ?? ''
    if (text !== '') call.empty = false
    if (known === undefined)
      return { ...part, index: call.index, type: 'function', function: { ...part.function, arguments: text } }
    // Clients concatenate: an id or a name that came again would be doubled. What else there is may be a signature.
    const { id: _, type: __, function: ___, ...rest } = part
    return { ...rest, index: call.index, function: { arguments: text } }
  }
}

/** A tool call of a stream. */
interface StreamedCall {
  readonly index: number
  /** False for custom tools, and kinds yet to come: their parts pass as they are. */
  readonly isFunction: boolean
  /** Whether a function has got no arguments so far. */
  empty: boolean
}

/** Some vendors leave the type out. */
const isFunction = ({ type, custom }: ToolCallDelta): boolean => (type ?? (custom ? 'custom' : 'function')) === 'function'

/** The role is ours to say, and a null or empty text says nothing. Nearly always a delta is as it should be. */
function withoutEmpty(delta: ChatDelta): ChatDelta | undefined {
  let members = 0
  let empty = 0
  for (const key in delta) {
    members++
    if (!says(delta, key)) empty++
  }
  if (empty === 0) return members === 0 ? undefined : delta
  return empty === members ? undefined : Object.fromEntries(Object.entries(delta).filter(([key]) => says(delta, key)))
}

function says(delta: ChatDelta, key: string): boolean {
  const value = delta[key]
  return key !== 'role' && value !== null && value !== undefined && value !== ''
}

/** Some upstreams stop beside a tool call; clients run the tool only where the reason says so. */
function finishOf(reason: string, calledTools: boolean): FinishReason {
  const known = (FINISH_REASONS as readonly string[]).includes(reason) ? (reason as FinishReason) : 'stop'
  return known === 'stop' && calledTools ? 'tool_calls' : known
}

const newId = (): string => `chatcmpl-${randomUUID()}`

const unixSeconds = (): number => Math.floor(Date.now() / 1000)

/** Makes OpenAI's completion out of a translator's: the fields that every reply must have, and the model that was asked for. */
export function normaliseCompletion(translated: TranslatedCompletion, model: string): ChatCompletion {
  const { choices, ...rest } = translated
  return {
    ...rest,
    id: translated.id || newId(),
    object: 'chat.completion',
    created: unixSeconds(),
    model,
    choices: choices.map(({ message, finish_reason, ...others }, index) => ({
      logprobs: null,
      ...others,
      index,
      message: {
        ...message,
        role: 'assistant',
        content: message.content ?? null,
        refusal: message.refusal ?? null,
        ...(Array.isArray(message.tool_calls) && { tool_calls: message.tool_calls.map(wholeCall) }),
      },
      finish_reason: finishOf(finish_reason, (message.tool_calls?.length ?? 0) > 0),
    })),
  }
}

/**
 * Mistral leaves the type out, and the SDK throws where it is not. Arguments are a JSON text, which nothing is none. What is no call of a
 * function stays as it is.
 */
function wholeCall(call: ToolCall): ToolCall {
  if (call?.function === undefined || !isRecord(call.function)) return call
  const { type = 'function', function: called } = call
  return { ...call, type, function: { ...called, arguments: called.arguments || '{}' } }
}
