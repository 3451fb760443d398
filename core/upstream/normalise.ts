import { randomUUID } from 'node:crypto'
import type {
  ChatChunk,
  ChatCompletion,
  ChatDelta,
  ToolCallDelta,
  TranslatedChoice,
  TranslatedChunk,
  TranslatedCompletion,
  Usage,
} from '../plugin/api.ts'
import { FINISH_REASONS, type FinishReason } from '../plugin/chat.ts'
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
  readonly #created = Math.floor(Date.now() / 1000)
  readonly #choices = new Map<number, ChoiceState>()
  #id: string | undefined
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
  *push(part: TranslatedChunk): Generator<ChatChunk> {
    this.#id ??= part.id ?? `chatcmpl-${randomUUID()}`
    if (part.usage != null) this.#usage = { ...this.#usage, ...part.usage }
    const { choices, usage: _, id: __, ...extras } = part
    for (const choice of choices) yield* this.#choice(choice, extras)
  }

  /** The chunks held back for the end. Undefined where a choice never finished: the stream was cut. */
  end(): ChatChunk[] | undefined {
    const chunks: ChatChunk[] = []
    for (const [index, state] of this.#choices) {
      if (state.finish === undefined) return undefined
      for (const call of state.tools.values()) {
        // A tool called without arguments: clients parse the concatenation, and '' is not JSON.
        if (call.empty) chunks.push(this.#chunk(index, { tool_calls: [{ index: call.index, function: { arguments: '{}' } }] }))
      }
      chunks.push({
        ...this.#chunk(index, {}),
        choices: [{ ...state.extras, index, delta: {}, finish_reason: finishOf(state.finish, state.tools.size > 0) }],
      })
    }
    if (this.#choices.size < this.#asked) return undefined
    const { usage } = this
    if (this.#includeUsage && usage !== undefined) chunks.push({ ...this.#envelope(), choices: [], usage })
    return chunks
  }

  *#choice(choice: TranslatedChoice, extras: object): Generator<ChatChunk> {
    const { index = 0, delta = {}, finish_reason, ...rest } = choice
    const state = this.#state(index)
    const { role: _, tool_calls, ...others } = delta
    const calls = tool_calls?.map((call) => state.renumber(call))
    const part: ChatDelta = { ...withoutEmpty(others), ...(calls && { tool_calls: calls }) }
    const speaks = Object.keys(part).length > 0
    if (!state.started) {
      state.started = true
      yield { ...(!speaks && extras), ...this.#chunk(index, { role: 'assistant', content: '' }) }
    }
    if (speaks) yield { ...extras, ...this.#chunk(index, part, rest) }
    else Object.assign(state.extras, rest)
    if (finish_reason != null) state.finish ??= finish_reason
  }

  #state(index: number): ChoiceState {
    const state = this.#choices.get(index) ?? new ChoiceState()
    this.#choices.set(index, state)
    return state
  }

  #envelope() {
    return { id: this.#id!, object: 'chat.completion.chunk' as const, created: this.#created, model: this.#model }
  }

  #chunk(index: number, delta: ChatDelta, rest: object = {}): ChatChunk {
    const chunk = { ...this.#envelope(), choices: [{ ...rest, index, delta, finish_reason: null }] }
    return this.#includeUsage ? { ...chunk, usage: null } : chunk
  }
}

class ChoiceState {
  started = false
  /** In the upstream's words. */
  finish: string | undefined
  /** Fields that came beside an empty delta: they travel with the finish. */
  readonly extras: Record<string, unknown> = {}
  /** By the translator's own number. */
  readonly tools = new Map<number, { readonly index: number; empty: boolean }>()

  renumber(call: ToolCallDelta): ToolCallDelta {
    const first = !this.tools.has(call.index)
    const known = this.tools.get(call.index) ?? { index: this.tools.size, empty: true }
    this.tools.set(call.index, known)
    const text = call.function?.arguments ?? ''
    if (text !== '') known.empty = false
    if (first) return { ...call, index: known.index, type: 'function', function: { ...call.function, arguments: text } }
    // Clients concatenate: an id or a name that came again would be doubled. What else there is may be a signature.
    const { id: _, type: __, function: ___, ...rest } = call
    return { ...rest, index: known.index, function: { arguments: text } }
  }
}

/** The role is ours to say, and a null or empty text says nothing. */
function withoutEmpty(delta: ChatDelta): ChatDelta {
  return Object.fromEntries(
    Object.entries(delta).filter(([, value]) => value !== null && value !== undefined && value !== ''),
  ) as ChatDelta
}

/** Some upstreams stop beside a tool call; clients run the tool only where the reason says so. */
function finishOf(reason: string, calledTools: boolean): FinishReason {
  const known = (FINISH_REASONS as readonly string[]).includes(reason) ? (reason as FinishReason) : 'stop'
  return known === 'stop' && calledTools ? 'tool_calls' : known
}

/** Makes OpenAI's completion out of a translator's: the fields that every reply must have, and the model that was asked for. */
export function normaliseCompletion(translated: TranslatedCompletion, model: string): ChatCompletion {
  const { choices, ...rest } = translated
  return {
    ...rest,
    id: translated.id ?? `chatcmpl-${randomUUID()}`,
    object: 'chat.completion',
    created: Math.floor(Date.now() / 1000),
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
        // Mistral leaves the type out, and the SDK throws where it is not.
        ...(message.tool_calls && { tool_calls: message.tool_calls.map((call) => ({ ...call, type: 'function' as const })) }),
      },
      finish_reason: finishOf(finish_reason, (message.tool_calls?.length ?? 0) > 0),
    })),
  }
}
