import {
  argumentsOf,
  type ChatMessage,
  CONTINUE,
  type ConversationVisitor,
  type FunctionToolCall,
  type IdRule,
  invalidValue,
  ToolIds,
  unsupportedParameter,
  walkConversation,
} from 'unified-model-gateway/plugin'
import { toMadeImages, toParts, toText } from './content.ts'
import { readThoughtState } from './interaction-thoughts.ts'
import type { Content, FunctionCallStep, InputStep, InteractionRequest } from './interaction-wire.ts'
import { PLACEHOLDER } from './messages.ts'
import type { ModelFacts } from './models.ts'
import type { Part } from './wire.ts'

/**
 * Translates a conversation. Throws `GatewayError` (400) for content that Gemini cannot read, and if a tool call has no result or a
 * result no call.
 */
export function toInput(
  messages: readonly ChatMessage[],
  facts: ModelFacts,
): Pick<InteractionRequest, 'input' | 'system_instruction'> {
  const builder = new StepBuilder(facts)
  walkConversation(messages, builder)
  return builder.build()
}

/** Any text but an empty one; no two calls have the same. */
const CALL_IDS: IdRule = { fit: (id) => id || 'call', copy: (id, number) => `${id}_${number}` }

class StepBuilder implements ConversationVisitor<FunctionCallStep> {
  readonly takesPictures = true
  readonly #facts: ModelFacts
  readonly #ids = new ToolIds(CALL_IDS)
  readonly #system: string[] = []
  readonly #steps: InputStep[] = []

  constructor(facts: ModelFacts) {
    this.#facts = facts
  }

  system(message: ChatMessage, path: string): void {
    for (const part of partsOf(message, path)) {
      if (!('text' in part)) throw unsupportedParameter(`${path}.content`, 'Gemini takes instructions as text.')
      this.#system.push(part.text)
    }
  }

  user(message: ChatMessage, path: string): void {
    this.#say('user_input', partsOf(message, path))
  }

  later(message: ChatMessage, path: string): void {
    this.user(message, path)
  }

  /** The thoughts that led to the first call stand before what the model said with it. */
  assistant(message: ChatMessage, path: string, calls: readonly FunctionToolCall[]): readonly FunctionCallStep[] {
    const [first] = calls
    const said = [...partsOf(message, path), ...toText(message.refusal), ...toMadeImages(message.images, `${path}.images`)]
    if (first) this.#think(first)
    this.#say('model_output', said)
    return calls.map((call) => {
      if (call !== first) this.#think(call)
      return this.#call(call)
    })
  }

  tool(message: ChatMessage, path: string, { id, name }: FunctionCallStep): void {
    const texts = partsOf(message, path).map((part) => {
      if (!('text' in part)) throw unsupportedParameter(`${path}.content`, 'Gemini takes the results of tools as text.')
      return part.text
    })
    this.#steps.push({ type: 'function_result', call_id: id, name, result: texts.join('') })
  }

  build(): Pick<InteractionRequest, 'input' | 'system_instruction'> {
    const steps = this.#steps
    const system = this.#system.join('\n')
    if (steps.length > 0) {
      if (steps[0]!.type !== 'user_input') steps.unshift({ type: 'user_input', content: [{ type: 'text', text: PLACEHOLDER }] })
      if (steps.at(-1)!.type === 'model_output' && !this.#facts.prefill) this.#say('user_input', toText(CONTINUE))
      return { ...(system && { system_instruction: system }), input: steps }
    }
    // Google requires a turn: instructions alone are sent as the user's.
    if (system === '') throw invalidValue('messages', 'every message is empty')
    return { input: [{ type: 'user_input', content: [{ type: 'text', text: system }] }] }
  }

  #think(call: FunctionToolCall): void {
    for (const signature of readThoughtState(call)) this.#steps.push({ type: 'thought', signature })
  }

  #call(call: FunctionToolCall): FunctionCallStep {
    const step: FunctionCallStep = {
      type: 'function_call',
      id: this.#ids.take(call.id),
      name: call.function.name,
      arguments: argumentsOf(call),
    }
    this.#steps.push(step)
    return step
  }

  #say(type: 'user_input' | 'model_output', parts: readonly Part[]): void {
    if (parts.length > 0) this.#steps.push({ type, content: parts.map(toContent) })
  }
}

const partsOf = ({ content }: ChatMessage, path: string): Part[] => toParts(content, `${path}.content`)

/** A part of generateContent as this API writes it. */
function toContent(part: Part): Content {
  if ('text' in part) return { type: 'text', text: part.text }
  if ('inlineData' in part) {
    const { mimeType, data } = part.inlineData
    return { type: kindOf(mimeType), mime_type: mimeType, data }
  }
  if (!('fileData' in part)) throw new Error('a call is not content')
  const { fileUri: uri, mimeType } = part.fileData
  return { type: kindOf(mimeType), ...(mimeType && { mime_type: mimeType }), uri }
}

function kindOf(type: string | undefined): 'image' | 'audio' | 'video' | 'document' {
  const [, kind] = /^(image|audio|video)\//.exec(type ?? '') ?? []
  return (kind as 'image' | 'audio' | 'video' | undefined) ?? 'document'
}
