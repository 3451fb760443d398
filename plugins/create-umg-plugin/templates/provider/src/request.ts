import {
  argumentsOf,
  type ChatMessage,
  type ChatRequest,
  type ChatTool,
  GatewayError,
  walkConversation,
} from 'unified-model-gateway/plugin'
import type { Call, TalkRequest, Tool, Turn } from './wire.ts'

/** A chat completion request as one of Parrot's. Throws a `GatewayError` (400) for what cannot be said in it. */
export function toTalkRequest(body: Readonly<ChatRequest>, engine: string): TalkRequest {
  const words = body.max_completion_tokens ?? body.max_tokens
  return {
    engine,
    turns: toTurns(body.messages),
    ...(body.tools && { tools: body.tools.map(toTool) }),
    ...(words != null && { words }),
    ...(body.temperature != null && { creativity: body.temperature }),
    live: body.stream === true,
  }
}

function toTurns(messages: readonly ChatMessage[]): readonly Turn[] {
  const turns: Turn[] = []
  const saysOf = ({ content }: ChatMessage, path: string) => textOf(content, `${path}.content`)
  walkConversation<Call>(messages, {
    system: (message, path) => turns.push({ who: 'director', says: saysOf(message, path) }),
    user: (message, path) => turns.push({ who: 'user', says: saysOf(message, path) }),
    assistant(message, path, asked) {
      const calls = asked.map((call) => ({ id: call.id, name: call.function.name, input: argumentsOf(call) }))
      turns.push({ who: 'parrot', says: saysOf(message, path), ...(calls.length > 0 && { calls }) })
      return calls
    },
    tool: (message, path, { id }) => turns.push({ who: 'tool', call: id, says: saysOf(message, path) }),
  })
  return turns
}

/** Of a list of parts, the texts: what else is in it would be lost. */
function textOf(content: ChatMessage['content'], param: string): string {
  if (content == null || typeof content === 'string') return content ?? ''
  return content
    .map((part, index) => (part.type === 'text' ? part.text : refuse(`${param}[${index}]`, 'Parrot reads text only.')))
    .join('')
}

function toTool(tool: ChatTool, index: number): Tool {
  if (tool.type !== 'function') return refuse(`tools[${index}]`, 'Parrot takes functions only.')
  const { name, description, parameters = { type: 'object', properties: {} } } = tool.function
  return { name, ...(description !== undefined && { about: description }), input: parameters }
}

function refuse(param: string, hint: string): never {
  throw new GatewayError('unsupported_parameter', { param, values: { detail: ` ${hint}` } })
}
