import { type ChatMessage, parseRecord, type ToolCall, unsupportedParameter } from 'unified-model-gateway/plugin'
import { toContent, toText } from './content.ts'
import type { Message, ToolCall as WireCall } from './wire.ts'

/** The names of the tools that were called, by the ids of the calls. */
type Called = Map<string, string>

type Speaker = (message: ChatMessage, path: string, called: Called) => Message

const SPEAKERS: Readonly<Record<ChatMessage['role'], Speaker>> = {
  developer: toSystem,
  system: toSystem,
  user: (message, path) => ({ role: 'user', ...toContent(message.content, `${path}.content`) }),
  assistant: toAssistant,
  tool: toToolResult,
  function: refuseFunction,
}

/** OpenAI's messages as Ollama's, one for one. Throws `GatewayError` for what Ollama cannot take. */
export function toMessages(messages: readonly ChatMessage[]): readonly Message[] {
  const called: Called = new Map()
  return messages.map((message, index) => SPEAKERS[message.role](message, `messages[${index}]`, called))
}

function toSystem(message: ChatMessage, path: string): Message {
  return { role: 'system', content: toText(message.content, `${path}.content`) }
}

function toAssistant(message: ChatMessage, path: string, called: Called): Message {
  if (message.function_call != null) throw unsupportedParameter(`${path}.function_call`, 'Use `tool_calls`.')
  if (message.audio != null) throw unsupportedParameter(`${path}.audio`, 'Send what was said as text.')
  const texts = [toText(message.content, `${path}.content`), message.refusal ?? ''].filter((text) => text !== '')
  const calls = (message.tool_calls ?? []).map((call, index) => toCall(call, `${path}.tool_calls[${index}]`))
  for (const { id = '', function: tool } of calls) called.set(id, tool.name)
  return {
    role: 'assistant',
    content: texts.join('\n'),
    ...(message.reasoning_content && { thinking: message.reasoning_content }),
    ...(calls.length > 0 && { tool_calls: calls }),
  }
}

function toCall(call: ToolCall, path: string): WireCall {
  if (call.type !== 'function') throw unsupportedParameter(path, 'Ollama calls functions only.')
  const { name, arguments: text } = call.function
  // Arguments that a model garbled, or that were cut off, stay in the history as they are.
  const values = text.trim() === '' ? {} : (parseRecord(text) ?? { arguments: text })
  return { ...(call.id && { id: call.id }), function: { name, arguments: values } }
}

/** Models are told results by the names of tools, and not by ids of calls. */
function toToolResult(message: ChatMessage, path: string, called: Called): Message {
  const id = message.tool_call_id ?? ''
  const name = called.get(id)
  return {
    role: 'tool',
    content: toText(message.content, `${path}.content`),
    ...(name !== undefined && { tool_name: name }),
    ...(id && { tool_call_id: id }),
  }
}

function refuseFunction(_: ChatMessage, path: string): Message {
  throw unsupportedParameter(`${path}.role`, 'Use `tool_calls` and the role `tool`.')
}
