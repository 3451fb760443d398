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
import { readThinkingState } from './reasoning.ts'
import type { ImageContent, Message, TextContent, UserContent, WireToolCall } from './wire.ts'

/** Cohere takes any id, but none twice. */
const IDS: IdRule = { fit: (id) => id || 'call', copy: (id, number) => `${id}_${number}` }

/**
 * Translates a conversation: instructions first, no empty messages. Throws `GatewayError` (400) for content that Cohere cannot read, and
 * if a tool call has no result or a result no call.
 */
export function toMessages(messages: readonly ChatMessage[]): readonly Message[] {
  const builder = new ConversationBuilder()
  walkConversation(messages, builder)
  return builder.build()
}

class ConversationBuilder implements ConversationVisitor<WireToolCall> {
  readonly #system: string[] = []
  readonly #messages: Message[] = []
  readonly #ids = new ToolIds(IDS)

  system({ content }: ChatMessage, path: string): void {
    const text = contentText(content, `${path}.content`)
    if (text.trim() !== '') this.#system.push(text)
  }

  user({ content }: ChatMessage, path: string): void {
    const parts =
      typeof content === 'string'
        ? toText(content)
        : (content ?? []).flatMap((part, index) => toContent(part, `${path}.content[${index}]`))
    // Models without images take a single text only as a string.
    const [first] = parts
    if (first === undefined) return
    this.#messages.push({ role: 'user', content: parts.length === 1 && first.type === 'text' ? first.text : parts })
  }

  later(message: ChatMessage, path: string): void {
    this.user(message, path)
  }

  assistant(message: ChatMessage, path: string, calls: readonly FunctionToolCall[]): readonly WireToolCall[] {
    const text = [contentText(message.content, `${path}.content`), message.refusal ?? ''].join('')
    const tool_calls = calls.map((call) => this.#toWireCall(call))
    if (calls.length > 0) this.#messages.push({ role: 'assistant', ...readThinkingState(calls, text), tool_calls })
    else if (text.trim() !== '') this.#messages.push({ role: 'assistant', content: text })
    return tool_calls
  }

  tool(message: ChatMessage, path: string, call: WireToolCall): void {
    const text = contentText(message.content, `${path}.content`)
    this.#messages.push({ role: 'tool', tool_call_id: call.id, content: text.trim() === '' ? '{}' : text })
  }

  build(): readonly Message[] {
    const system = this.#system.join('\n')
    const all = [...(system === '' ? [] : [{ role: 'system' as const, content: system }]), ...this.#messages]
    if (all.length === 0) throw invalidValue('messages', 'every message is empty')
    return all
  }

  #toWireCall(call: FunctionToolCall): WireToolCall {
    const { name, arguments: text } = call.function
    // An object's text stays unchanged: parsing would round large numbers.
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

/** The text of a content without images. */
function contentText(content: ChatMessage['content'], path: string): string {
  if (typeof content === 'string') return content
  const texts = (content ?? []).map((part, index) => {
    if (part.type === 'text') return part.text
    if (part.type === 'refusal') return part.refusal
    throw unsupportedParameter(`${path}[${index}]`, 'Cohere reads images in messages of the user only.')
  })
  return texts.join('')
}
