import {
  type AttemptStates,
  type ChatRequest,
  type ChatTool,
  defineCallFunction,
  dropped,
  droppedInside,
  type FormatMembers,
  type FormatPlan,
  fitFormat,
  invalidValue,
  lostFormat,
  mapped,
  onlyOpenai,
  type ParameterSupport,
  planFormat,
  readResponseFormat,
  readThinking,
  readToolChoice,
  readTopK,
  refused,
  unsupportedParameter,
  withCallStates,
} from 'unified-model-gateway/plugin'
import { toMessages } from './messages.ts'
import type { ModelFacts } from './models.ts'
import { toReasoning } from './reasoning.ts'
import { canBeStrict } from './strict-tools.ts'
import type { ChatBody, Tool } from './wire.ts'

/**
 * The names of tools that Cohere takes: "Valid names contain only the characters a-z, A-Z, 0-9, _ and must not begin with a digit" (`CohereToolV2`,
 * docs.oracle.com); its own service takes dashes too (github.com/FerroxLabs/wayland-core, pull request 131, July 2026).
 */
export const TOOL_NAMES = /^[A-Za-z_][\w-]{0,63}$/

const NO_LOGPROBS = 'Cohere gives log probabilities of pieces of text, not of tokens.'

/** The support of each field of a chat completion request. docs/providers/cohere.md is compared with it by a test. */
export const parameters: Readonly<Record<string, ParameterSupport>> = {
  model: mapped('model'),
  messages: mapped('messages'),
  stream: mapped('stream'),
  stream_options: mapped('the usage chunk, which the gateway writes'),
  max_tokens: mapped('max_tokens'),
  max_completion_tokens: mapped('max_tokens'),
  temperature: mapped('temperature'),
  top_p: mapped('p'),
  top_k: mapped('k'),
  frequency_penalty: mapped('frequency_penalty'),
  presence_penalty: mapped('presence_penalty'),
  seed: mapped('seed'),
  stop: mapped('stop_sequences'),
  tools: mapped('tools'),
  tool_choice: mapped('tool_choice'),
  response_format: mapped('response_format, tools, messages'),
  reasoning_effort: mapped('thinking'),
  thinking: mapped('thinking'),
  reasoning: mapped('thinking'),

  parallel_tool_calls: dropped,
  cache_control: dropped,

  n: refused('Cohere gives one choice a call; call it several times.'),
  logprobs: refused(NO_LOGPROBS),
  top_logprobs: refused(NO_LOGPROBS),
  logit_bias: refused('Cohere takes no logit biases.'),

  ...onlyOpenai,

  'image_url.detail': mapped('image_url.detail'),
  'tools.strict': mapped('strict_tools'),
}

/** The model of a request. */
export interface Target {
  /** Cohere's name of the model. */
  readonly model: string
  readonly facts: ModelFacts
  /** Of the attempt. */
  readonly states?: AttemptStates | undefined
}

/** An upstream request, and the parameters that the model does not take. */
export interface Translated {
  readonly request: ChatBody
  readonly dropped: readonly string[]
}

/** The body of `POST /v2/chat`, and the parameters that the model does not take. */
export const chatBody = defineCallFunction(import.meta.url, 'chatBody', (call, target: Target) => {
  const { request, dropped } = toChatBody(withCallStates(call.body, target.states), target)
  return { body: Buffer.from(JSON.stringify(request)), dropped }
})

/** How the format of a request is served: Cohere writes JSON only without tools, and an older model that may call none gets none. */
export const formatPlan = (request: FormatMembers, { toolChoice }: ModelFacts): FormatPlan | undefined =>
  planFormat(request, () => {
    const native = (request.tools ?? []).length === 0 || (!toolChoice && request.tool_choice === 'none')
    return { schema: native, object: native, forcedTools: toolChoice }
  })

/** Translates a chat completion request for `POST /v2/chat`. Throws `GatewayError` (400) for parameters that Cohere cannot honour. */
export function toChatBody(asked: Readonly<ChatRequest>, { model, facts }: Target): Translated {
  const plan = formatPlan(asked, facts)
  const body = fitFormat(asked, plan)
  const maxTokens = body.max_completion_tokens ?? body.max_tokens ?? undefined
  const toolset = toToolset(body, facts)
  const format = toFormat(body)
  const sampling = toSampling(body)
  const thinking = readThinking(body)
  const reasoning = toReasoning(thinking, maxTokens ?? facts.maxTokens, facts)
  return {
    request: {
      model,
      messages: toMessages(body.messages),
      ...(body.stream && { stream: true }),
      ...(maxTokens !== undefined && { max_tokens: maxTokens }),
      ...sampling.sent,
      ...toolset,
      ...(format && { response_format: format }),
      ...(reasoning.thinking && { thinking: reasoning.thinking }),
    },
    dropped: [
      ...sampling.dropped,
      ...lostFormat(plan),
      ...(thinking && reasoning.dropped ? [thinking.param] : []),
      ...droppedInside(asked, toolset.strict_tools ? parameters : { ...parameters, 'tools.strict': dropped }),
    ],
  }
}

/** The tools of a request; empty without tools. */
type Toolset = Pick<ChatBody, 'tools' | 'tool_choice' | 'strict_tools'>

/** Translates the tools and their choice. Throws `GatewayError` (400) for custom tools, and for a required tool if the model cannot be required to use one. */
function toToolset(body: Readonly<ChatRequest>, facts: ModelFacts): Toolset {
  const all = (body.tools ?? []).map((tool, index) => toTool(tool, `tools[${index}]`))
  const { mode, names } = readToolChoice(body.tool_choice)
  // Cohere's choice names no tool: a named one is offered alone.
  const tools = names ? all.filter(({ function: { name } }) => names.has(name)) : all
  const sent = (body.tools ?? []).filter((tool) => tool.type === 'function' && names?.has(tool.function.name) !== false)
  const strict = facts.strictTools && sent.some(isStrict) && canBeStrict(sent) ? { strict_tools: true as const } : {}
  if (mode === 'required') {
    if (names && tools.length === 0) throw invalidValue('tool_choice', `no tool is named '${[...names].join("' or '")}'`)
    if (!facts.toolChoice) {
      throw unsupportedParameter('tool_choice', 'Send `auto`, and say in the prompt that the tool is to be used.')
    }
    return tools.length === 0 ? {} : { tools, ...strict, tool_choice: 'REQUIRED' }
  }
  if (tools.length === 0 || (mode === 'none' && !facts.toolChoice)) return {}
  return { tools, ...strict, ...(mode === 'none' && { tool_choice: 'NONE' }) }
}

const isStrict = (tool: ChatTool): boolean => tool.type === 'function' && tool.function.strict === true

function toTool(tool: ChatTool, path: string): Tool {
  if (tool.type !== 'function') throw unsupportedParameter(path, 'Cohere takes tools of type `function` only.')
  const { name, description, parameters } = tool.function
  return {
    type: 'function',
    // Cohere requires parameters, OpenAI does not.
    function: { name, ...(description && { description }), parameters: { type: 'object', properties: {}, ...parameters } },
  }
}

function toFormat(body: Readonly<ChatRequest>): ChatBody['response_format'] {
  const format = readResponseFormat(body.response_format)
  return format?.type === 'json_schema' ? { type: 'json_object', json_schema: format.schema } : format
}

/** The sampling parameters that are sent, and the names of those that are not. */
interface Sampling {
  readonly sent: Pick<ChatBody, 'temperature' | 'p' | 'k' | 'seed' | 'frequency_penalty' | 'presence_penalty' | 'stop_sequences'>
  readonly dropped: readonly string[]
}

/** OpenAI's sampling parameters within Cohere's bounds. */
function toSampling(body: Readonly<ChatRequest>): Sampling {
  const { temperature, top_p: topP, seed } = body
  const topK = readTopK(body)
  const penalties = toPenalties(body)
  const requested = [body.stop ?? []].flat()
  const stop = requested.filter((sequence) => sequence !== '')
  return {
    sent: {
      ...(temperature != null && { temperature: Math.min(temperature, 1) }),
      ...(topK !== undefined && { k: Math.min(topK, 500) }),
      ...(topP != null && { p: Math.min(Math.max(topP, 0.01), 0.99) }),
      ...(typeof seed === 'number' && { seed: Math.abs(seed) }),
      ...penalties.sent,
      ...(stop.length > 0 && { stop_sequences: stop }),
    },
    dropped: [...penalties.dropped, ...(stop.length < requested.length ? ['stop'] : [])],
  }
}

/** Cohere takes penalties from 0 to 1, and answers 400 to both together. */
function toPenalties(body: Readonly<ChatRequest>): Sampling {
  const requested = (['frequency_penalty', 'presence_penalty'] as const).flatMap((name) => {
    const value = body[name]
    return typeof value === 'number' && value !== 0 ? [{ name, value: Math.min(value, 1) }] : []
  })
  const sent = requested.filter(({ value }) => value > 0).slice(0, 1)
  return {
    sent: Object.fromEntries(sent.map(({ name, value }) => [name, value])),
    dropped: requested.filter((penalty) => !sent.includes(penalty)).map(({ name }) => name),
  }
}
