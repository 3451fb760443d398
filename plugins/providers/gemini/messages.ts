import {
  type AttemptStates,
  argumentsOf,
  type ChatMessage,
  CONTINUE,
  type ConversationVisitor,
  type FunctionToolCall,
  invalidValue,
  unsupportedParameter,
  walkConversation,
} from 'unified-model-gateway/plugin'
import { toMadeImages, toParts, toText } from './content.ts'
import type { ModelFacts } from './models.ts'
import { signaturesOf } from './reasoning.ts'
import type { Content, FunctionCall, Part } from './wire.ts'

/** A conversation for generateContent. */
export interface Conversation {
  readonly systemInstruction?: Content
  readonly contents: readonly Content[]
}

/** The model and the API of a request. */
export interface Target {
  readonly facts: ModelFacts
  /** Whether the API takes ids of function calls: the Gemini API does, Vertex AI does not. */
  readonly callIds: boolean
  /** Whether the address has other tiers than the usual one. */
  readonly tiers?: boolean
  /** Of the attempt. */
  readonly states?: AttemptStates | undefined
}

/**
 * Translates a conversation. Throws `GatewayError` (400) for content that Gemini cannot read, and if a tool call has no result or a
 * result no call.
 */
export function toConversation(messages: readonly ChatMessage[], target: Target): Conversation {
  const builder = new ConversationBuilder(target)
  walkConversation(messages, builder)
  return builder.build()
}

/** A function call with its output, once known. */
interface CallWithOutput {
  readonly call: FunctionCall
  output?: string
}

interface Turn {
  readonly role: 'user' | 'model'
  readonly parts: Part[]
}

/** What the user says before a model that speaks first: a function call has to follow a turn of the user. */
export const PLACEHOLDER = '…'

class ConversationBuilder implements ConversationVisitor<CallWithOutput> {
  readonly takesPictures = true
  readonly #target: Target
  readonly #system: string[] = []
  readonly #turns: Turn[] = []
  /** The last turn with results. */
  #results: Turn | undefined
  /** The function calls of the last message that has some. */
  #calls: readonly CallWithOutput[] = []
  #unanswered = 0

  constructor(target: Target) {
    this.#target = target
  }

  system(message: ChatMessage, path: string): void {
    for (const part of this.#partsOf(message, path)) {
      if (!('text' in part)) throw unsupportedParameter(`${path}.content`, 'Gemini takes instructions as text.')
      this.#system.push(part.text)
    }
  }

  user(message: ChatMessage, path: string): void {
    this.#append('user', this.#partsOf(message, path))
  }

  later(message: ChatMessage, path: string): void {
    this.user(message, path)
  }

  assistant(message: ChatMessage, path: string, calls: readonly FunctionToolCall[]): readonly CallWithOutput[] {
    this.#append('model', [
      ...this.#partsOf(message, path),
      ...toText(message.refusal),
      ...toMadeImages(message.images, `${path}.images`),
    ])
    if (calls.length === 0) return []
    this.#calls = calls.map((call) => ({ call: this.#toCall(call) }))
    this.#unanswered = calls.length
    const signatures = signaturesOf(calls, this.#target.facts)
    const parts = this.#calls.map(({ call: functionCall }, index): Part => {
      const thoughtSignature = signatures[index]
      return { functionCall, ...(thoughtSignature !== undefined && { thoughtSignature }) }
    })
    this.#append('model', parts)
    return this.#calls
  }

  /** Google requires all results in the turn after the calls, as many as there are calls and, without ids, in their order. */
  tool(message: ChatMessage, path: string, call: CallWithOutput): void {
    const texts = this.#partsOf(message, path).map((part) => {
      if (!('text' in part)) throw unsupportedParameter(`${path}.content`, 'Gemini takes the results of tools as text.')
      return part.text
    })
    call.output = texts.join('')
    if (--this.#unanswered > 0) return
    this.#results = { role: 'user', parts: this.#calls.map(toResponse) }
    this.#turns.push(this.#results)
  }

  build(): Conversation {
    if (this.#turns[0]?.role === 'model') this.#turns.unshift({ role: 'user', parts: toText(PLACEHOLDER) })
    if (this.#turns.at(-1)?.role === 'model' && !this.#target.facts.prefill) this.#append('user', toText(CONTINUE))
    const system = this.#system.join('\n')
    if (this.#turns.length > 0) {
      return { ...(system && { systemInstruction: { parts: toText(system) } }), contents: this.#turns }
    }
    // Google requires a turn: instructions alone are sent as the user's.
    if (system === '') throw invalidValue('messages', 'every message is empty')
    return { contents: [{ role: 'user', parts: toText(system) }] }
  }

  #partsOf({ content }: ChatMessage, path: string): Part[] {
    return toParts(content, `${path}.content`)
  }

  #toCall(call: FunctionToolCall): FunctionCall {
    return { ...(this.#target.callIds && call.id !== '' && { id: call.id }), name: call.function.name, args: argumentsOf(call) }
  }

  /** Appends to the last turn or begins a new one: results of functions are a turn of their own. */
  #append(role: 'user' | 'model', parts: readonly Part[]): void {
    if (parts.length === 0) return
    const turn = this.#turns.at(-1)
    if (turn?.role === role && turn !== this.#results) turn.parts.push(...parts)
    else this.#turns.push({ role, parts: [...parts] })
  }
}

function toResponse({ call: { id, name }, output = '' }: CallWithOutput): Part {
  return { functionResponse: { ...(id !== undefined && { id }), name, response: { output } } }
}
