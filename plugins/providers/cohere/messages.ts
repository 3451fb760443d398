import {
  type ChatMessage,
  type ContentPart,
  invalidValue,
  parseRecord,
  type ToolCall,
  unsupportedParameter,
} from 'unified-model-gateway/plugin'
import { ToolIds } from 'unified-model-gateway/providers/anthropic'
import { fromFreight } from './thought.ts'
import type { ImageContent, Message, TextContent, UserContent, WireToolCall } from './wire.ts'

/** A conversation under way. */
interface Draft {
  readonly system: string[]
  readonly messages: Message[]
  readonly ids: ToolIds
}

type Speaker = (draft: Draft, message: ChatMessage, path: string) => void

const SPEAKERS: Readonly<Record<ChatMessage['role'], Speaker>> = {
  developer: addSystem,
  system: addSystem,
  user: addUser,
  assistant: addAssistant,
  tool: addToolResult,
  function: refuseFunction,
}

/** Cohere takes any id, but none twice. */
const IDS = { fit: (id: string) => id || 'call', copy: (id: string, number: number) => `${id}_${number}` }

/**
 * OpenAI's messages as Cohere's: instructions first, nothing empty. Throws `GatewayError` for what Cohere cannot read, and where a
 * tool call has no result or a result no call.
 */
export function toMessages(messages: readonly ChatMessage[]): readonly Message[] {
  const draft: Draft = { system: [], messages: [], ids: new ToolIds(IDS) }
  for (const [index, message] of messages.entries()) SPEAKERS[message.role](draft, message, `messages[${index}]`)
  expectAnswers(draft, 'messages')
  const system = draft.system.join('\n')
  const all = [...(system === '' ? [] : [{ role: 'system' as const, content: system }]), ...draft.messages]
  if (all.length === 0) throw invalidValue('messages', 'every message is empty')
  return all
}

function addSystem({ system }: Draft, { content }: ChatMessage, path: string): void {
  const text = textOf(content, `${path}.content`)
  if (text.trim() !== '') system.push(text)
}

function addUser(draft: Draft, { content }: ChatMessage, path: string): void {
  expectAnswers(draft, path)
  const parts =
    typeof content === 'string'
      ? toText(content)
      : (content ?? []).flatMap((part, index) => toContent(part, `${path}.content[${index}]`))
  // A lone text is a string, which models that see no images take too.
  const [first] = parts
  if (first !== undefined)
    draft.messages.push({ role: 'user', content: parts.length === 1 && first.type === 'text' ? first.text : parts })
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

function addAssistant(draft: Draft, message: ChatMessage, path: string): void {
  expectAnswers(draft, path)
  if (message.function_call != null) throw unsupportedParameter(`${path}.function_call`, 'Use `tool_calls`.')
  if (message.audio != null) throw unsupportedParameter(`${path}.audio`, 'Send what was said as text.')
  const text = [textOf(message.content, `${path}.content`), message.refusal ?? ''].join('')
  const calls = message.tool_calls ?? []
  const tool_calls = calls.map((call, index) => toWireCall(draft, call, `${path}.tool_calls[${index}]`))
  if (calls.length > 0) draft.messages.push({ role: 'assistant', ...fromFreight(calls, text), tool_calls })
  else if (text.trim() !== '') draft.messages.push({ role: 'assistant', content: text })
}

function toWireCall({ ids }: Draft, call: ToolCall, path: string): WireToolCall {
  if (call.type !== 'function') throw unsupportedParameter(path, 'Cohere calls functions only.')
  const { name, arguments: text } = call.function
  // Arguments that a model garbled, or that were cut off, stay in the history as they are, within JSON.
  const json = text.trim() === '' ? '{}' : parseRecord(text) === undefined ? JSON.stringify({ arguments: text }) : text
  return { id: ids.call(call.id), type: 'function', function: { name, arguments: json } }
}

function addToolResult(draft: Draft, message: ChatMessage, path: string): void {
  const id = draft.ids.result(message.tool_call_id ?? '')
  if (id === undefined) throw invalidValue(`${path}.tool_call_id`, 'no tool call before it has this id and waits for a result')
  const text = textOf(message.content, `${path}.content`)
  draft.messages.push({ role: 'tool', tool_call_id: id, content: text.trim() === '' ? '{}' : text })
}

function refuseFunction(_: Draft, __: ChatMessage, path: string): void {
  throw unsupportedParameter(`${path}.role`, 'Use `tool_calls` and the role `tool`.')
}

function expectAnswers({ ids }: Draft, path: string): void {
  if (ids.unanswered === undefined) return
  throw invalidValue(path, `the tool call '${ids.unanswered}' before it has no message with role 'tool' that gives its result`)
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
