import {
  type AttemptStates,
  type ChatRequest,
  defineCallFunction,
  dropped,
  droppedInside,
  fitFormat,
  lostFormat,
  mapped,
  onlyOpenai,
  type ParameterSupport,
  readResponseFormat,
  readServiceTier,
  readThinking,
  readWebSearch,
  refused,
  withCallStates,
} from 'unified-model-gateway/plugin'
import { toInput } from './interaction-steps.ts'
import { toThinking } from './interaction-thoughts.ts'
import type { GenerationConfig, InteractionRequest, ResponseFormat, Tool } from './interaction-wire.ts'
import type { ModelFacts } from './models.ts'
import { formatPlan, stopSequencesOf, TIERS, toInt32, toResponseSchema } from './request.ts'
import { type AskedTools, readTools } from './tools.ts'

const ONLY_GENERATE = 'The Interactions API does not have it: let the namespace call generateContent (`api`).'

/** The support of each field of a chat completion request by the Interactions API. docs/providers/gemini.md is compared with it by a test. */
export const interactionParameters: Readonly<Record<string, ParameterSupport>> = {
  model: mapped('model'),
  messages: mapped('input, system_instruction'),
  stream: mapped('stream'),
  stream_options: mapped('the usage chunk, which the gateway writes'),
  max_tokens: mapped('generation_config.max_output_tokens'),
  max_completion_tokens: mapped('generation_config.max_output_tokens'),
  temperature: mapped('generation_config.temperature'),
  top_p: mapped('generation_config.top_p'),
  seed: mapped('generation_config.seed'),
  stop: mapped('generation_config.stop_sequences'),
  tools: mapped('tools'),
  tool_choice: mapped('generation_config.tool_choice'),
  response_format: mapped('response_format, tools, system_instruction'),
  reasoning_effort: mapped('generation_config.thinking_level, thinking_summaries'),
  thinking: mapped('generation_config.thinking_level, thinking_summaries'),
  reasoning: mapped('generation_config.thinking_level, thinking_summaries'),

  top_k: dropped,
  frequency_penalty: dropped,
  presence_penalty: dropped,
  parallel_tool_calls: dropped,
  cache_control: dropped,

  n: refused(ONLY_GENERATE),
  logprobs: refused(ONLY_GENERATE),
  top_logprobs: refused(ONLY_GENERATE),
  modalities: refused(ONLY_GENERATE),
  logit_bias: refused('Gemini takes no logit biases.'),

  ...onlyOpenai,

  service_tier: mapped('service_tier'),
  web_search_options: mapped('tools'),
  'messages.images': mapped('input'),
  'tools.strict': mapped('generation_config.tool_choice'),
}

/** The model of a request, and what was kept of earlier replies. */
interface Target {
  readonly model: string
  readonly facts: ModelFacts
  /** Of the attempt. */
  readonly states?: AttemptStates | undefined
}

/** The body of `POST /interactions`, and the parameters that the model does not take. */
export const interactionBody = defineCallFunction(import.meta.url, 'interactionBody', (call, target: Target) => {
  const { request, dropped } = toInteractionRequest(withCallStates(call.body, target.states), target)
  return { body: Buffer.from(JSON.stringify({ ...request, stream: call.stream })), dropped }
})

/** Translates a chat completion request. Throws `GatewayError` (400) for parameters that the API cannot honour. */
export function toInteractionRequest(
  asked: Readonly<ChatRequest>,
  { model, facts }: Target,
): { readonly request: Omit<InteractionRequest, 'stream'>; readonly dropped: readonly string[] } {
  const plan = formatPlan(asked, facts)
  const body = fitFormat(asked, plan)
  const tools = readTools(body)
  const thinking = readThinking(body)
  const thought = toThinking(thinking, facts)
  const sampling = toSampling(body, facts)
  const stop = stopSequencesOf(body)
  const search = readWebSearch(body)
  const tier = readServiceTier(body, TIERS)
  const config = {
    ...toLimits(body),
    ...sampling.sent,
    ...(stop.length > 0 && { stop_sequences: stop }),
    ...thought.sent,
    ...toChoice(tools),
  }
  return {
    request: {
      model,
      ...toInput(body.messages, facts),
      ...toTools(tools),
      ...toFormat(body),
      ...(Object.keys(config).length > 0 && { generation_config: config }),
      ...(tier.sent && { service_tier: tier.sent }),
      store: false,
    },
    dropped: [
      ...(tier.dropped ? ['service_tier'] : []),
      ...(search?.size ? ['web_search_options.search_context_size'] : []),
      ...(search?.location ? ['web_search_options.user_location'] : []),
      ...sampling.dropped,
      ...(stop.length < [body.stop ?? []].flat().length ? ['stop'] : []),
      ...lostFormat(plan),
      ...(thinking && thought.dropped ? [thinking.param] : []),
      ...droppedInside(asked, interactionParameters),
    ],
  }
}

function toLimits(body: Readonly<ChatRequest>): GenerationConfig {
  const limit = body.max_completion_tokens ?? body.max_tokens
  return {
    ...(limit != null && { max_output_tokens: limit }),
    ...(typeof body.seed === 'number' && { seed: toInt32(body.seed) }),
  }
}

const SAMPLING = [
  ['temperature', 1],
  ['top_p', 1],
] as const

function toSampling(
  body: Readonly<ChatRequest>,
  { sampling }: ModelFacts,
): { readonly sent: GenerationConfig; readonly dropped: readonly string[] } {
  const requested = SAMPLING.filter(([name]) => typeof body[name] === 'number')
  if (sampling) return { sent: Object.fromEntries(requested.map(([name]) => [name, body[name]])), dropped: [] }
  return { sent: {}, dropped: requested.filter(([name, idle]) => body[name] !== idle).map(([name]) => name) }
}

function toTools({ search, functions }: AskedTools): { readonly tools?: readonly Tool[] } {
  if (search) return { tools: [{ type: 'google_search' }] }
  if (functions.length === 0) return {}
  return {
    tools: functions.map(({ name, description, parameters }) => ({
      type: 'function',
      name,
      ...(description && { description }),
      ...(parameters && { parameters }),
    })),
  }
}

function toChoice({ search, functions, choice: { mode, names }, strict }: AskedTools): Pick<GenerationConfig, 'tool_choice'> {
  if (search || functions.length === 0) return {}
  if (mode === 'none') return { tool_choice: 'none' }
  if (mode === 'auto') return strict ? { tool_choice: 'validated' } : {}
  return { tool_choice: names ? { allowed_tools: { mode: 'any', tools: [...names] } } : 'any' }
}

function toFormat(body: Readonly<ChatRequest>): { readonly response_format?: ResponseFormat } {
  const format = readResponseFormat(body.response_format)
  if (format === undefined) return {}
  const json = { type: 'text', mime_type: 'application/json' } as const
  if (format.type === 'json_object') return { response_format: json }
  const { schema, description } = format
  return { response_format: { ...json, schema: toResponseSchema({ ...(description && { description }), ...schema }) } }
}
