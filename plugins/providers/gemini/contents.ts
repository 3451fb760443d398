import {
  argumentsOf,
  type ChatMessage,
  type ConversationVisitor,
  type FunctionToolCall,
  invalidValue,
  unsupportedParameter,
  walkConversation,
} from 'unified-model-gateway/plugin'
import type { ModelFacts } from './models.ts'
import { toParts, toText } from './parts.ts'
import { signaturesOf } from './signatures.ts'
import type { Content, FunctionCall, Part } from './wire.ts'

/** A conversation in Google's shape. */
export interface Conversation {
  readonly systemInstruction?: Content
  readonly contents: readonly Content[]
}

/** What of the target bears on a conversation. */
export interface Reader {
  readonly facts: ModelFacts
  /** Whether the wire knows ids of function calls: the Gemini API does, Vertex AI does not. */
  readonly callIds: boolean
}

/** A function call as Google gets it, and what it gave. */
interface Answered {
  readonly call: FunctionCall
  output?: string
}

/**
 * OpenAI's messages as Google's contents. Throws `GatewayError` for what Gemini cannot read, and where a tool call has no result or a
 * result no call.
 */
export function toConversation(messages: readonly ChatMessage[], reader: Reader): Conversation {
  const draft = new Draft(reader)
  walkConversation(messages, draft)
  return draft.finish()
}

class Draft implements ConversationVisitor<Answered> {
  readonly #reader: Reader
  readonly #system: string[] = []
  readonly #turns: { readonly role: 'user' | 'model'; readonly parts: Part[] }[] = []
  /** The function calls of the last message that has some. */
  #step: readonly Answered[] = []
  #unanswered = 0

  constructor(reader: Reader) {
    this.#reader = reader
  }

  system(message: ChatMessage, path: string): void {
    for (const part of toParts(message.content, `${path}.content`)) {
      if (!('text' in part)) throw unsupportedParameter(`${path}.content`, 'Gemini takes instructions as text.')
      this.#system.push(part.text)
    }
  }

  user(message: ChatMessage, path: string): void {
    this.#say('user', toParts(message.content, `${path}.content`))
  }

  assistant(message: ChatMessage, path: string, calls: readonly FunctionToolCall[]): readonly Answered[] {
    this.#say('model', [...toParts(message.content, `${path}.content`), ...toText(message.refusal)])
    if (calls.length === 0) return []
    this.#step = calls.map((call) => ({ call: this.#toCall(call) }))
    this.#unanswered = calls.length
    const signatures = signaturesOf(calls, this.#reader.facts)
    const parts = this.#step.map(({ call: functionCall }, index): Part => {
      const thoughtSignature = signatures[index]
      return { functionCall, ...(thoughtSignature !== undefined && { thoughtSignature }) }
    })
    this.#say('model', parts)
    return this.#step
  }

  /** Google wants all results in the turn after the calls, as many as there were and, where it knows no ids, in their order. */
  tool(message: ChatMessage, path: string, answered: Answered): void {
    const texts = toParts(message.content, `${path}.content`).map((part) => {
      if (!('text' in part)) throw unsupportedParameter(`${path}.content`, 'Gemini takes the results of tools as text.')
      return part.text
    })
    answered.output = texts.join('')
    if (--this.#unanswered === 0) this.#turns.push({ role: 'user', parts: this.#step.map(toResponse) })
  }

  finish(): Conversation {
    const system = this.#system.join('\n')
    if (this.#turns.length > 0) {
      return { ...(system && { systemInstruction: { parts: toText(system) } }), contents: this.#turns }
    }
    // Google needs a turn; who sends instructions alone means them to be followed.
    if (system === '') throw invalidValue('messages', 'every message is empty')
    return { contents: [{ role: 'user', parts: toText(system) }] }
  }

  #toCall(call: FunctionToolCall): FunctionCall {
    return { ...(this.#reader.callIds && call.id !== '' && { id: call.id }), name: call.function.name, args: argumentsOf(call) }
  }

  /** Adds to the turn, or begins one: the results of functions stand in a turn of their own. */
  #say(role: 'user' | 'model', parts: readonly Part[]): void {
    if (parts.length === 0) return
    const turn = this.#turns.at(-1)
    const isOpen = turn?.role === role && !turn.parts.some((part) => 'functionResponse' in part)
    if (isOpen) turn.parts.push(...parts)
    else this.#turns.push({ role, parts: [...parts] })
  }
}

function toResponse({ call: { id, name }, output = '' }: Answered): Part {
  return { functionResponse: { ...(id !== undefined && { id }), name, response: { output } } }
}
