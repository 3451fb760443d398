import {
  type AttemptStates,
  type ChatRequest,
  defineCallFunction,
  dropped,
  droppedInside,
  type FormatMembers,
  type FormatPlan,
  fitFormat,
  isRecord,
  lostFormat,
  mapped,
  onlyOpenai,
  type ParameterSupport,
  planFormat,
  readResponseFormat,
  readServiceTier,
  readThinking,
  readTopK,
  refused,
  withCallStates,
} from 'unified-model-gateway/plugin'
import { surplusMarks } from '../anthropic/messages.ts'
import { hasMaps, hasStrictMaps, toStrictSchema } from '../anthropic/schema.ts'
import { toCachePoint } from './content.ts'
import { toConversation, withUserLast } from './messages.ts'
import type { ModelFacts } from './models.ts'
import { toReasoning, withoutReasoning } from './reasoning.ts'
import { toToolset } from './tools.ts'
import type { ConverseRequest, InferenceConfig, TextFormat } from './wire.ts'

const NO_LOGPROBS = 'Bedrock gives no log probabilities.'

/** The support of each field of a chat completion request. docs/providers/bedrock.md is compared with it by a test. */
export const parameters: Readonly<Record<string, ParameterSupport>> = {
  model: mapped('the path'),
  messages: mapped('messages, system'),
  stream: mapped('the operation: ConverseStream'),
  stream_options: mapped('the usage chunk, which the gateway writes'),
  max_tokens: mapped('inferenceConfig.maxTokens'),
  max_completion_tokens: mapped('inferenceConfig.maxTokens'),
  temperature: mapped('inferenceConfig.temperature'),
  top_p: mapped('inferenceConfig.topP'),
  top_k: mapped('additionalModelRequestFields'),
  stop: mapped('inferenceConfig.stopSequences'),
  tools: mapped('toolConfig.tools'),
  tool_choice: mapped('toolConfig.toolChoice'),
  parallel_tool_calls: mapped('additionalModelRequestFields.tool_choice'),
  response_format: mapped('outputConfig.textFormat, toolConfig, system'),
  reasoning_effort: mapped('additionalModelRequestFields'),
  thinking: mapped('additionalModelRequestFields'),
  reasoning: mapped('additionalModelRequestFields'),
  cache_control: mapped('cachePoint, also of parts, tools and tool calls'),

  frequency_penalty: dropped,
  presence_penalty: dropped,
  seed: dropped,

  n: refused('Bedrock gives one choice a call; call it several times.'),
  logprobs: refused(NO_LOGPROBS),
  top_logprobs: refused(NO_LOGPROBS),
  logit_bias: refused('Converse takes no logit biases.'),

  ...onlyOpenai,

  metadata: mapped('requestMetadata'),
  service_tier: mapped('serviceTier'),

  'tools.strict': mapped('toolConfig.tools[].toolSpec.strict'),
  prompt_cache_breakpoint: mapped('cachePoint'),
}

/** Of the models whose facts have `tiers`. The usual tier has no name in requests. */
const TIERS = { priority: 'priority', flex: 'flex' } as const

const NO_TIERS: Partial<typeof TIERS> = {}

/** The model of a request. */
export interface Target {
  /** Bedrock's name of the model: an id or an ARN. */
  readonly model: string
  readonly facts: ModelFacts
  readonly guardrail?: { readonly id: string; readonly version: string }
  /** Of the attempt. */
  readonly states?: AttemptStates | undefined
}

/** An upstream request, and the parameters that the model does not take. */
export interface Translated {
  readonly request: ConverseRequest
  readonly dropped: readonly string[]
}

/** The body of Converse, and the parameters that the model does not take. */
export const converseBody = defineCallFunction(import.meta.url, 'converseBody', (call, target: Target) => {
  const { request, dropped } = toConverseRequest(withCallStates(call.body, target.states), target)
  return { body: Buffer.from(JSON.stringify(request)), dropped }
})

/** How the format of a request is served: constrained decoding takes no maps, and no object without a schema. */
export const formatPlan = (request: FormatMembers, { schemas, toolChoice }: ModelFacts): FormatPlan | undefined =>
  planFormat(request, (format) => ({
    schema: schemas && format.type === 'json_schema' && !hasMaps(format.schema),
    object: false,
    forcedTools: toolChoice !== 'auto',
  }))

/** Translates a chat completion request for Converse. Throws `GatewayError` (400) for parameters that Bedrock cannot honour. */
export function toConverseRequest(asked: Readonly<ChatRequest>, { model, facts, guardrail }: Target): Translated {
  const plan = formatPlan(asked, facts)
  const body = fitFormat(asked, plan)
  const conversation = toConversation(body.messages, model, facts, toCachePoint(body))
  const { system, messages } = conversation
  const toolset = toToolset(body, conversation, facts)
  const maxTokens = body.max_completion_tokens ?? body.max_tokens ?? undefined
  const thinking = readThinking(body)
  const reasoning = toReasoning(thinking, facts, { maxTokens, forced: toolset.forced, messages })
  const textFormat = toTextFormat(body)
  const sampling = toSampling(body, reasoning.fixesSampling ? 'none' : facts.sampling)
  const stop = toStop(body)
  const limit = maxTokens ?? reasoning.maxTokens
  const inferenceConfig = { ...(limit !== undefined && { maxTokens: limit }), ...sampling.sent, ...stop.sent }
  const topK = readTopK(body)
  const takesTopK = facts.topK !== 'none' && facts.sampling !== 'none' && !reasoning.fixesSampling
  const labels = toLabels(body.metadata)
  const tier = readServiceTier(body, facts.tiers ? TIERS : NO_TIERS)
  const fields = { ...toolset.fields, ...reasoning.fields, ...(takesTopK && topK !== undefined && toTopK(topK, facts)) }
  const spoken = reasoning.on ? messages : withoutReasoning(messages)
  const continues = facts.prefill && reasoning.on !== true && textFormat === undefined
  return {
    request: {
      messages: continues ? spoken : withUserLast(spoken),
      ...(system.length > 0 && { system }),
      ...(Object.keys(inferenceConfig).length > 0 && { inferenceConfig }),
      ...(toolset.toolConfig && { toolConfig: toolset.toolConfig }),
      ...(guardrail && { guardrailConfig: { guardrailIdentifier: guardrail.id, guardrailVersion: guardrail.version } }),
      ...(textFormat && { outputConfig: { textFormat } }),
      ...(labels && { requestMetadata: labels }),
      ...(tier.sent && { serviceTier: { type: tier.sent } }),
      ...(Object.keys(fields).length > 0 && { additionalModelRequestFields: fields }),
    },
    dropped: [
      ...toolset.dropped,
      ...sampling.dropped,
      ...stop.dropped,
      ...(topK !== undefined && !takesTopK ? ['top_k'] : []),
      ...(body.metadata != null && labels === undefined ? ['metadata'] : []),
      ...(tier.dropped ? ['service_tier'] : []),
      ...lostFormat(plan),
      ...(thinking && reasoning.dropped ? [thinking.param] : []),
      ...lostInside(asked, facts),
    ],
  }
}

/** Where models have it, in `additionalModelRequestFields`. */
const toTopK = (topK: number, facts: ModelFacts): Readonly<Record<string, unknown>> =>
  facts.topK === 'nova' ? { inferenceConfig: { topK } } : { top_k: topK }

/** What is lost inside the request: not all models that cache take cache points after tools. */
function lostInside(body: Readonly<ChatRequest>, { caching, toolCaching, strictTools }: ModelFacts): readonly string[] {
  const table = {
    ...parameters,
    ...(!caching && { cache_control: dropped, prompt_cache_breakpoint: dropped }),
    ...((!strictTools || hasStrictMaps(body)) && { 'tools.strict': dropped }),
  }
  const isLost =
    (!toolCaching && (body.tools ?? []).some((tool) => 'cache_control' in tool)) || (!caching && body.cache_control != null)
  return [...new Set([...droppedInside(body, table), ...(isLost ? ['cache_control'] : surplusMarks(body))])]
}

/** What Bedrock takes as a name or a value of `requestMetadata`, and how many ("Converse", Amazon Bedrock API reference; read 2026-11-26). */
const LABEL = /^[a-zA-Z0-9\s:_@$#=/+,.-]{1,256}$/
const MOST_LABELS = 16

/** Labels for the log of invocations; undefined if Bedrock does not take them. */
function toLabels(metadata: unknown): Readonly<Record<string, string>> | undefined {
  if (!isRecord(metadata)) return undefined
  const entries = Object.entries(metadata)
  const isTaken = entries.length <= MOST_LABELS && entries.flat().every((text) => typeof text === 'string' && LABEL.test(text))
  return isTaken && entries.length > 0 ? (metadata as Readonly<Record<string, string>>) : undefined
}

/** The parameters of a request that are sent, and the names of those that the model does not take. */
interface Split {
  readonly sent: InferenceConfig
  readonly dropped: readonly string[]
}

/** Converse's temperature ends at 1. For a model that does not take both, a value of 1, the default of either, is omitted. */
function toSampling({ temperature, top_p: topP }: Readonly<ChatRequest>, allowed: ModelFacts['sampling']): Split {
  const requested = { ...(temperature != null && { temperature: Math.min(temperature, 1) }), ...(topP != null && { topP }) }
  if (allowed === 'both') return { sent: requested, dropped: [] }
  const entries = Object.entries(requested).filter(([, value]) => value !== 1)
  const sent = allowed === 'one' ? entries.slice(0, 1) : []
  return {
    sent: Object.fromEntries(sent),
    dropped: entries.slice(sent.length).map(([name]) => (name === 'topP' ? 'top_p' : name)),
  }
}

/** Models answer 400 to a blank stop sequence. */
function toStop(body: Readonly<ChatRequest>): Split {
  const requested = [body.stop ?? []].flat()
  const stopSequences = requested.filter((sequence) => sequence.trim() !== '')
  return {
    sent: stopSequences.length > 0 ? { stopSequences } : {},
    dropped: stopSequences.length < requested.length ? ['stop'] : [],
  }
}

function toTextFormat(body: Readonly<ChatRequest>): TextFormat | undefined {
  const format = readResponseFormat(body.response_format)
  if (format?.type !== 'json_schema') return undefined
  const { type, schema, strict: _, ...rest } = format
  return { type, structure: { jsonSchema: { schema: JSON.stringify(toStrictSchema(schema)), ...rest } } }
}
