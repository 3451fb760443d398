import {
  argumentsOf,
  type ChatMessage,
  type ContentPart,
  type ConversationVisitor,
  type FunctionToolCall,
  type IdRule,
  invalidValue,
  parseRecord,
  ToolIds,
  unsupportedParameter,
  walkConversation,
} from 'unified-model-gateway/plugin'
import { fromFreight } from './thought.ts'
import type { ImageContent, Message, TextContent, UserContent, WireToolCall } from './wire.ts'

/** Cohere takes any id, but none twice. */
const IDS: IdRule = { fit: (id) => id || 'call', copy: (id, number) => `${id}_${number}` }

/**
 * OpenAI's messages as Cohere's: instructions first, nothing empty. Throws `GatewayError` for what Cohere cannot read, and where a
 * tool call has no result or a result no call.
 */
export function toMessages(messages: readonly ChatMessage[]): readonly Message[] {
  const draft = new Draft()
  walkConversation(messages, draft)
  return draft.finish()
}

class Draft implements ConversationVisitor<WireToolCall> {
  readonly #system: string[] = []
  readonly #messages: Message[] = []
  readonly #ids = new ToolIds(IDS)

  system({ content }: ChatMessage, path: string): void {
    const text = textOf(content, `${path}.content`)
    if (text.trim() !== '') this.#system.push(text)
  }

  user({ content }: ChatMessage, path: string): void {
    const parts =
      typeof content === 'string'
        ? toText(content)
        : (content ?? []).flatMap((part, index) => toContent(part, `${path}.content[${index}]`))
    // A lone text is a string, which models that see no images take too.
    const [first] = parts
    if (first === undefined) return
    this.#messages.push({ role: 'user', content: parts.length === 1 && first.type === 'text' ? first.text : parts })
  }

  assistant(message: ChatMessage, path: string, calls: readonly FunctionToolCall[]): readonly WireToolCall[] {
    const text = [textOf(message.content, `${path}.content`), message.refusal ?? ''].join('')
    const tool_calls = calls.map((call) => this.#toWireCall(call))
    if (calls.length > 0) this.#messages.push({ role: 'assistant', ...fromFreight(calls, text), tool_calls })
    else if (text.trim() !== '') this.#messages.push({ role: 'assistant', content: text })
    return tool_calls
  }

  tool(message: ChatMessage, path: string, call: WireToolCall): void {
    const text = textOf(message.content, `${path}.content`)
    this.#messages.push({ role: 'tool', tool_call_id: call.id, content: text.trim() === '' ? '{}' : text })
  }

  finish(): readonly Message[] {
    const system = this.#system.join('\n')
    const all = [...(system === '' ? [] : [{ role: 'system' as const, content: system }]), ...this.#messages]
    if (all.length === 0) throw invalidValue('messages', 'every message is empty')
    return all
  }

  #toWireCall(call: FunctionToolCall): WireToolCall {
    const { name, arguments: text } = call.function
    // As they came where they are an object: large numbers would be rounded.
    const json = parseRecord(text) === undefined ? JSON.stringify(argumentsOf(call)) : text
    return { id: this.#ids.take(call.id), type: 'function', function: { name, arguments: json } }
  }
}

function toText(text: string): TextContent[] {
  return text.trim() === '' ? [] : [{ type: 'text', text }]
}

function toContent(part: ContentPart, path: string): UserContent[] {
  switch (part.type) {
    case 'text':
      return toText(part.text)
    case 'refusal':
      return toText(part.refusal)
    case 'image_url':
      return [toImage(part)]
    default:
      throw unsupportedParameter(path, 'Cohere reads text and images.')
  }
}

function toImage({ image_url: { url, detail } }: Extract<ContentPart, { type: 'image_url' }>): ImageContent {
  const known = detail === 'auto' || detail === 'low' || detail === 'high' ? detail : undefined
  return { type: 'image_url', image_url: { url, ...(known && { detail: known }) } }
}

/** The words of a content that is words only. */
function textOf(content: ChatMessage['content'], path: string): string {
  if (typeof content === 'string') return content
  const words = (content ?? []).map((part, index) => {
    if (part.type === 'text') return part.text
    if (part.type === 'refusal') return part.refusal
    throw unsupportedParameter(`${path}[${index}]`, 'Cohere reads images in messages of the user only.')
  })
  return words.join('')
}
