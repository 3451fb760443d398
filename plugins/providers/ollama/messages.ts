import {
  argumentsOf,
  type ChatMessage,
  type ContentPart,
  type FunctionToolCall,
  invalidValue,
  type MessageVisitor,
  readDataUrl,
  readKeptTurn,
  textOf,
  unsupportedParameter,
  walkMessages,
} from 'unified-model-gateway/plugin'
import type { Message, ToolCall } from './wire.ts'

/** Translates messages one by one. Throws `GatewayError` (400) for content that Ollama cannot take. */
export function toMessages(messages: readonly ChatMessage[]): readonly Message[] {
  const builder = new MessagesBuilder()
  walkMessages(messages, builder)
  return builder.messages
}

class MessagesBuilder implements MessageVisitor {
  readonly messages: Message[] = []
  /** The names of the called tools, by the ids of the calls. */
  readonly #called = new Map<string, string>()

  system(message: ChatMessage, path: string): void {
    this.messages.push({ role: 'system', content: toText(message.content, `${path}.content`) })
  }

  user(message: ChatMessage, path: string): void {
    this.messages.push({ role: 'user', ...toContent(message.content, `${path}.content`) })
  }

  assistant(message: ChatMessage, path: string, calls: readonly FunctionToolCall[]): void {
    for (const { id, function: tool } of calls) this.#called.set(id, tool.name)
    const texts = [toText(message.content, `${path}.content`), message.refusal ?? ''].filter((text) => text !== '')
    this.messages.push({
      role: 'assistant',
      content: texts.join('\n'),
      ...toThinking(message),
      ...(calls.length > 0 && { tool_calls: calls.map(toToolCall) }),
    })
  }

  /** Most models' templates name the tool of a result, and not the id of its call. */
  tool(message: ChatMessage, path: string): void {
    const id = message.tool_call_id ?? ''
    const name = this.#called.get(id)
    this.messages.push({
      role: 'tool',
      content: toText(message.content, `${path}.content`),
      ...(name !== undefined && { tool_name: name }),
      ...(id && { tool_call_id: id }),
    })
  }
}

/** The thinking of an earlier answer: Ollama's own, or what a client of chat completions sends back. */
function toThinking(message: ChatMessage): Pick<Message, 'thinking'> {
  const thinking = textOf(readKeptTurn(message, STATE_OWNER)?.message.reasoning_content ?? message.reasoning_content)
  return thinking === '' ? {} : { thinking }
}

/** `Provider.stateOwner` */
export const STATE_OWNER = 'ollama'

function toToolCall(call: FunctionToolCall): ToolCall {
  return { ...(call.id && { id: call.id }), function: { name: call.function.name, arguments: argumentsOf(call) } }
}

/** A message's content. `path`: its place in the client's body. */
function toContent(content: ChatMessage['content'], path: string): Pick<Message, 'content' | 'images'> {
  if (typeof content === 'string') return { content }
  const parts = (content ?? []).map((part, index) => toPart(part, `${path}[${index}]`))
  const images = parts.flatMap((part) => part.image ?? [])
  const texts = parts.flatMap((part) => part.text ?? [])
  return { content: texts.join('\n'), ...(images.length > 0 && { images }) }
}

/** The content of a message of any role but the user's: text only. */
function toText(content: ChatMessage['content'], path: string): string {
  const { content: text, images } = toContent(content, path)
  if (images) throw unsupportedParameter(path, 'Ollama takes images and sound in the messages of users only.')
  return text
}

function toPart(part: ContentPart, path: string): { readonly text?: string; readonly image?: string } {
  switch (part.type) {
    case 'text':
      return { text: part.text }
    case 'refusal':
      return { text: part.refusal }
    case 'image_url':
      return { image: toImage(part.image_url.url, `${path}.image_url.url`) }
    case 'input_audio':
      return { image: part.input_audio.data }
    default:
      throw unsupportedParameter(path, 'Ollama takes text, images and sound.')
  }
}

function toImage(url: string, path: string): string {
  const inline = readDataUrl(url)
  if (inline) return inline.data
  if (/^https?:\/\//i.test(url)) throw unsupportedParameter(path, 'Ollama fetches no images: send a base64 data URL.')
  throw invalidValue(path, 'expected a base64 data URL (data:<type>;base64,…)')
}
