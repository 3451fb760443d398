import { type ChatMessage, type ChatRequest, type ChatTool, GatewayError, type ToolCall } from 'unified-model-gateway/plugin'
import type { TalkRequest, Tool, Turn } from './wire.ts'

/** A chat completion request as one of Parrot's. Throws a `GatewayError` (400) for what cannot be said in it. */
export function toTalkRequest(body: Readonly<ChatRequest>, engine: string): TalkRequest {
  const words = body.max_completion_tokens ?? body.max_tokens
  return {
    engine,
    turns: body.messages.map(toTurn),
    ...(body.tools && { tools: body.tools.map(toTool) }),
    ...(words != null && { words }),
    ...(body.temperature != null && { creativity: body.temperature }),
    live: body.stream === true,
  }
}

function toTurn(message: ChatMessage, index: number): Turn {
  const says = textOf(message.content, `messages[${index}].content`)
  switch (message.role) {
    case 'developer':
    case 'system':
      return { who: 'director', says }
    case 'assistant':
      return { who: 'parrot', says, ...(message.tool_calls && { calls: message.tool_calls.map(toCall) }) }
    case 'tool':
      return { who: 'tool', call: message.tool_call_id ?? '', says }
    default:
      return { who: 'user', says }
  }
}

/** Of a list of parts, the texts: what else is in it would be lost. */
function textOf(content: ChatMessage['content'], param: string): string {
  if (content == null || typeof content === 'string') return content ?? ''
  return content
    .map((part, index) => (part.type === 'text' ? part.text : refuse(`${param}[${index}]`, 'Parrot reads text only.')))
    .join('')
}

function toCall(call: ToolCall) {
  if (call.type !== 'function') return refuse('messages', 'Parrot calls functions only.')
  const { name, arguments: text } = call.function
  return { id: call.id, name, input: JSON.parse(text || '{}') }
}

function toTool(tool: ChatTool, index: number): Tool {
  if (tool.type !== 'function') return refuse(`tools[${index}]`, 'Parrot takes functions only.')
  const { name, description, parameters = { type: 'object', properties: {} } } = tool.function
  return { name, ...(description !== undefined && { about: description }), input: parameters }
}

function refuse(param: string, hint: string): never {
  throw new GatewayError('unsupported_parameter', { param, values: { detail: ` ${hint}` } })
}
