import {
  type AttemptStates,
  applied,
  type ChatMessage,
  type ChatRequest,
  type ChatTool,
  type ContentPart,
  defineCallFunction,
  dropped,
  droppedInside,
  mapped,
  onlyOpenai,
  type ParameterTable,
  readThinking,
  refused,
  type ToolCall,
  type ToolChoice,
  unsupportedParameter,
  withCallStates,
} from 'unified-model-gateway/plugin'
import { effortFor, SAMPLING } from './models.ts'
import { readReasoning } from './reasoning.ts'
import { stopSequencesOf } from './stop.ts'
import type { ContentItem, InputItem, ResponsesRequest, ResponsesTool, SaidItem } from './wire.ts'

/** The parameters of chat completions that the Responses API has (openai-node 7.57, `ResponseCreateParams`). */
export const RESPONSES_PARAMETERS: Exclude<ParameterTable, 'verbatim'> = {
  ...onlyOpenai,
  max_completion_tokens: mapped('max_output_tokens'),
  max_tokens: mapped('max_output_tokens'),
  temperature: mapped('temperature'),
  top_p: mapped('top_p'),
  tools: mapped('tools'),
  tool_choice: mapped('tool_choice'),
  parallel_tool_calls: mapped('parallel_tool_calls'),
  response_format: mapped('text.format'),
  verbosity: mapped('text.verbosity'),
  reasoning_effort: mapped('reasoning.effort'),
  thinking: mapped('reasoning.effort'),
  reasoning: mapped('reasoning.effort'),
  logprobs: mapped('include'),
  top_logprobs: mapped('top_logprobs'),
  web_search_options: mapped('tools, as web_search'),
  moderation: mapped('moderation'),
  metadata: mapped('metadata'),
  store: mapped('store'),
  user: mapped('user'),
  service_tier: mapped('service_tier'),
  safety_identifier: mapped('safety_identifier'),
  prompt_cache_key: mapped('prompt_cache_key'),
  prompt_cache_retention: mapped('prompt_cache_retention'),
  prompt_cache_options: mapped('prompt_cache_options'),
  n: refused('The Responses API gives one choice: send the call several times.'),
  // The gateway cuts the answer.
  stop: applied,
  logit_bias: refused('The Responses API takes no logit biases.'),
  seed: dropped,
  frequency_penalty: dropped,
  presence_penalty: dropped,
  cache_control: dropped,
  'image_url.detail': mapped('detail'),
  'tools.strict': mapped('strict'),
  prompt_cache_breakpoint: mapped('prompt_cache_breakpoint'),
}

/** A request of the Responses API as JSON, and what it leaves out of messages and tools. */
export interface ResponsesBytes {
  readonly bytes: Uint8Array
  readonly dropped: readonly string[]
}

interface ResponsesTarget {
  readonly model: string
  readonly states?: AttemptStates | undefined
  /** Whether the model is known to reason about the call. */
  readonly reasons: boolean
}

/** The request for a chat completion; of a large one in a thread. */
export const responsesBody = defineCallFunction(
  import.meta.url,
  'responsesBody',
  (call, { model, states, reasons }: ResponsesTarget): ResponsesBytes => ({
    bytes: Buffer.from(JSON.stringify(toResponsesRequest(withCallStates(call.body, states), model, reasons))),
    dropped: [
      ...droppedInside(call.body, RESPONSES_PARAMETERS),
      ...replacedEffort(call.body, model),
      ...(reasons ? SAMPLING.filter((name) => (call.body[name] ?? 1) !== 1) : []),
    ],
  }),
)

/** An effort that the model refuses is named as dropped, and a number of tokens, for which an effort stands. */
function replacedEffort(body: Readonly<ChatRequest>, model: string): readonly string[] {
  const asked = readThinking(body)
  return asked && (asked.budget !== undefined || effortFor(model, asked.effort) !== asked.effort) ? [asked.param] : []
}

/** Below it the Responses API answers 400: "Expected a value >= 16" (recorded in September 2026, openai-node 7.23). */
const LEAST_TOKENS = 16

/**
 * Throws `GatewayError` (400) for content that the Responses API does not take. `reasons`: the model reasons, and takes no sampling parameters: "Unsupported
 * parameter: 'temperature' is not supported with this model" (live, September 2026).
 */
export function toResponsesRequest(body: Readonly<ChatRequest>, model: string, reasons = false): ResponsesRequest {
  const cap = body.max_completion_tokens ?? body.max_tokens
  const asked = readThinking(body)
  const tools = [...(body.tools ?? []).map(toTool), ...toWebSearch(body.web_search_options)]
  const text = { ...toFormat(body.response_format), ...(body.verbosity != null && { verbosity: body.verbosity }) }
  const wantsLogprobs = body.logprobs === true
  const names = reasons ? SAME : [...SAMPLING, ...SAME]
  // It reads them in the reply, but refuses them here.
  stopSequencesOf(body.stop)
  return {
    model,
    input: toInput(body.messages, model),
    // Chat completions are not stored unless the client asks for it.
    store: body.store === true,
    include: ['reasoning.encrypted_content', ...(wantsLogprobs ? ['message.output_text.logprobs'] : [])],
    ...Object.fromEntries(names.filter((name) => body[name] != null).map((name) => [name, body[name]])),
    ...(body.stream === true && { stream: true }),
    ...(cap != null && { max_output_tokens: Math.max(cap, LEAST_TOKENS) }),
    ...(tools.length > 0 && { tools }),
    ...(body.tool_choice != null && { tool_choice: toChoice(body.tool_choice) }),
    ...(asked && { reasoning: { effort: effortFor(model, asked.effort) } }),
    ...(Object.keys(text).length > 0 && { text }),
    ...(wantsLogprobs && body.top_logprobs != null && { top_logprobs: body.top_logprobs }),
  }
}

/** Members with the same name and value in both. */
const SAME = [
  'parallel_tool_calls',
  'metadata',
  'user',
  'service_tier',
  'safety_identifier',
  'moderation',
  'prompt_cache_key',
  'prompt_cache_retention',
  'prompt_cache_options',
] as const

function toInput(messages: readonly ChatMessage[], model: string): InputItem[] {
  const items: InputItem[] = []
  const customCalls = new Set<string>()
  for (const [index, message] of messages.entries()) {
    const path = `messages[${index}]`
    switch (message.role) {
      case 'developer':
      case 'system':
      case 'user':
        items.push({ role: message.role, content: toContent(message.content, `${path}.content`) })
        break
      case 'assistant':
        for (const { id, type } of message.tool_calls ?? []) if (type === 'custom') customCalls.add(id)
        items.push(...toAnswer(message, path, model))
        break
      case 'tool': {
        const { tool_call_id: id = '', content } = message
        const type = customCalls.has(id) ? 'custom_tool_call_output' : 'function_call_output'
        items.push({ type, call_id: id, output: toContent(content, `${path}.content`) })
        break
      }
      case 'function':
        throw unsupportedParameter(`${path}.role`, 'Use `tool_calls` and the role `tool`.')
    }
  }
  return items
}

/** The items of an assistant's turn. Reasoning stands before the call that it led to, and that of the first call before the text. */
function toAnswer(message: ChatMessage, path: string, model: string): InputItem[] {
  if (message.audio != null) throw unsupportedParameter(`${path}.audio`, 'Send what was said as text.')
  if (message.function_call != null) throw unsupportedParameter(`${path}.function_call`, 'Use `tool_calls`.')
  const calls = message.tool_calls ?? []
  const [first, ...later] = calls.map((call) => [...readReasoning(call, model), toCallItem(call)])
  const reasoning = first?.slice(0, -1) ?? []
  return [...reasoning, ...toSaid(message, path), ...(first?.slice(-1) ?? []), ...later.flat()]
}

/** What the assistant has said. A turn of nothing is one too. */
function toSaid({ content, refusal, tool_calls: calls }: ChatMessage, path: string): InputItem[] {
  const parts: readonly ContentPart[] = typeof content === 'string' ? [{ type: 'text', text: content }] : (content ?? [])
  const said = [
    ...parts.map((part, index) => toSaidItem(part, `${path}.content[${index}]`)),
    ...(refusal ? [{ type: 'refusal' as const, refusal }] : []),
  ].filter((part) => part.type === 'refusal' || part.text !== '')
  if (said.length === 0 && (calls ?? []).length > 0) return []
  return [{ type: 'message', role: 'assistant', content: said.length > 0 ? said : [textItem('')] }]
}

function toSaidItem(part: ContentPart, path: string): SaidItem {
  if (part.type === 'refusal') return { type: 'refusal', refusal: part.refusal }
  if (part.type === 'text') return textItem(part.text)
  throw unsupportedParameter(path, "The Responses API takes only texts of the assistant: send it in a user's message.")
}

const textItem = (text: string): SaidItem => ({ type: 'output_text', text, annotations: [] })

function toCallItem(call: ToolCall): InputItem {
  return call.type === 'custom'
    ? { type: 'custom_tool_call', call_id: call.id, name: call.custom.name, input: call.custom.input }
    : { type: 'function_call', call_id: call.id, name: call.function.name, arguments: call.function.arguments }
}

function toContent(content: ChatMessage['content'], path: string): string | ContentItem[] {
  if (!Array.isArray(content)) return content ?? ''
  return content.map((part, index) => ({ ...toContentItem(part, `${path}[${index}]`), ...markOf(part) }))
}

function toContentItem(part: ContentPart, path: string): ContentItem {
  switch (part.type) {
    case 'text':
      return { type: 'input_text', text: part.text }
    case 'refusal':
      return { type: 'input_text', text: part.refusal }
    case 'image_url':
      return { type: 'input_image', image_url: part.image_url.url, detail: part.image_url.detail ?? 'auto' }
    case 'file':
      return { type: 'input_file', ...part.file }
    case 'input_audio':
      throw unsupportedParameter(path, 'The Responses API takes no sound: send what is said as text.')
  }
}

/** OpenAI's own mark for its prompt cache. */
function markOf(part: object): { prompt_cache_breakpoint?: unknown } {
  const { prompt_cache_breakpoint: mark } = part as { prompt_cache_breakpoint?: unknown }
  return mark == null ? {} : { prompt_cache_breakpoint: mark }
}

/** `parameters` and `strict` are required there; without `properties` GPT models refuse a schema. */
function toTool(tool: ChatTool): ResponsesTool {
  if (tool.type === 'function') {
    const { name, description, parameters, strict = false } = tool.function
    const schema = { type: 'object', properties: {}, ...parameters }
    return { type: 'function', name, ...(description !== undefined && { description }), parameters: schema, strict }
  }
  const { format, ...custom } = tool.custom as typeof tool.custom & {
    readonly format?: { type?: unknown; grammar?: object } | null
  }
  return { type: 'custom', ...custom, ...(format && { format: { type: format.type, ...format.grammar } }) }
}

function toWebSearch(options: unknown): ResponsesTool[] {
  if (options == null) return []
  const { user_location: location, ...rest } = options as { readonly user_location?: { readonly approximate?: object } | null }
  return [{ type: 'web_search', ...rest, ...(location && { user_location: { type: 'approximate', ...location.approximate } }) }]
}

function toChoice(choice: ToolChoice): unknown {
  if (typeof choice === 'string') return choice
  switch (choice.type) {
    case 'function':
      return { type: 'function', name: choice.function.name }
    case 'custom':
      return { type: 'custom', name: choice.custom.name }
    case 'allowed_tools': {
      const { mode, tools } = choice.allowed_tools
      return { type: 'allowed_tools', mode, tools: tools.map((tool) => flattened(tool as Readonly<Record<string, unknown>>)) }
    }
  }
}

/** `{type: 'function', function: {name}}` as `{type: 'function', name}`. */
function flattened({ type, ...rest }: Readonly<Record<string, unknown>>): object {
  return { type, ...(rest[String(type)] as object | undefined) }
}

function toFormat(format: ChatRequest['response_format']): { format?: unknown } {
  if (format == null || format.type === 'text') return {}
  if (format.type !== 'json_schema') return { format }
  return { format: { type: 'json_schema', ...format.json_schema } }
}
