import {
  argumentsOf,
  type ChatMessage,
  type ChatRequest,
  type ChatTool,
  defineCallFunction,
  dropped,
  droppedInside,
  mapped,
  onlyOpenai,
  type ParameterSupport,
  refused,
  unsupportedParameter,
  walkConversation,
} from 'unified-model-gateway/plugin'
import type { Call, TalkRequest, Tool, Turn } from './wire.ts'

/**
 * The support of each field of a chat completion request. Drop what is harmless to omit: the reply names it. Refuse what would change the
 * meaning.
 */
export const parameters: Readonly<Record<string, ParameterSupport>> = {
  model: mapped('engine'),
  messages: mapped('turns'),
  stream: mapped('live'),
  stream_options: mapped('the usage chunk, which the gateway writes'),
  max_tokens: mapped('words'),
  max_completion_tokens: mapped('words'),
  temperature: mapped('creativity'),
  tools: mapped('tools'),

  frequency_penalty: dropped,
  presence_penalty: dropped,
  top_p: dropped,
  seed: dropped,
  reasoning_effort: dropped,
  cache_control: dropped,

  n: refused('Parrot gives one choice a call.'),
  stop: refused('Parrot takes no stop sequences.'),
  tool_choice: refused('Parrot chooses by itself: say in the prompt what is to be called.'),
  parallel_tool_calls: refused('Parrot decides by itself how many tools it calls.'),
  response_format: refused('Parrot writes plain text only.'),
  logprobs: refused('Parrot gives no log probabilities.'),
  top_logprobs: refused('Parrot gives no log probabilities.'),
  logit_bias: refused('Parrot takes no logit biases.'),

  // Fields that few services but OpenAI take.
  ...onlyOpenai,
}

/** The body of a request. A worker thread calls it for large requests, so that they do not block the gateway. */
export const talkBody = defineCallFunction(import.meta.url, 'talkBody', (call, engine: string) => ({
  body: Buffer.from(JSON.stringify(toTalkRequest(call.body, engine))),
  dropped: droppedInside(call.body, parameters),
}))

/** Translates a chat completion request to Parrot's. Throws a `GatewayError` (400) for content that Parrot does not take. */
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
  const textOf = ({ content }: ChatMessage, path: string) => toText(content, `${path}.content`)
  walkConversation<Call>(messages, {
    system: (message, path) => turns.push({ who: 'director', says: textOf(message, path) }),
    user: (message, path) => turns.push({ who: 'user', says: textOf(message, path) }),
    assistant(message, path, toolCalls) {
      const calls = toolCalls.map((call) => ({ id: call.id, name: call.function.name, input: argumentsOf(call) }))
      turns.push({ who: 'parrot', says: textOf(message, path), ...(calls.length > 0 && { calls }) })
      return calls
    },
    tool: (message, path, { id }) => turns.push({ who: 'tool', call: id, says: textOf(message, path) }),
  })
  return turns
}

/** The texts of a content. Refuses other parts: they would be lost. */
function toText(content: ChatMessage['content'], param: string): string {
  if (content == null || typeof content === 'string') return content ?? ''
  const texts = content.map((part, index) => {
    if (part.type === 'text') return part.text
    throw unsupportedParameter(`${param}[${index}]`, 'Parrot reads text only.')
  })
  return texts.join('')
}

function toTool(tool: ChatTool, index: number): Tool {
  if (tool.type !== 'function') throw unsupportedParameter(`tools[${index}]`, 'Parrot takes functions only.')
  const { name, description, parameters = { type: 'object', properties: {} } } = tool.function
  return { name, ...(description !== undefined && { about: description }), input: parameters }
}
