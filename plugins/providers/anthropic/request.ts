import {
  type AttemptStates,
  type Call,
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
  readWebSearch,
  refused,
  textOf,
  withCallStates,
} from 'unified-model-gateway/plugin'
import { markOf } from './content.ts'
import { MAX_MARKS, surplusMarks, toConversation, withUserLast } from './messages.ts'
import type { ModelFacts } from './models.ts'
import { toReasoning, withoutThinking } from './reasoning.ts'
import { hasMaps, hasStrictMaps, toStrictSchema } from './schema.ts'
import { isForced, marksIn, toToolset } from './tools.ts'
import type { MessagesRequest, OutputFormat } from './wire.ts'

const NO_LOGPROBS = 'Anthropic gives no log probabilities.'

/** The support of each field of a chat completion request. docs/providers/anthropic.md is compared with it by a test. */
export const parameters: Readonly<Record<string, ParameterSupport>> = {
  model: mapped('model'),
  messages: mapped('messages, system'),
  stream: mapped('stream'),
  stream_options: mapped('the usage chunk, which the gateway writes'),
  max_tokens: mapped('max_tokens'),
  max_completion_tokens: mapped('max_tokens'),
  temperature: mapped('temperature'),
  top_p: mapped('top_p'),
  top_k: mapped('top_k'),
  stop: mapped('stop_sequences'),
  tools: mapped('tools'),
  tool_choice: mapped('tool_choice'),
  parallel_tool_calls: mapped('tool_choice.disable_parallel_tool_use'),
  response_format: mapped('output_config.format, tools, system'),
  reasoning_effort: mapped('thinking, output_config.effort'),
  thinking: mapped('thinking, output_config.effort'),
  reasoning: mapped('thinking, output_config.effort'),
  cache_control: mapped('cache_control, also of parts, tools and tool calls'),

  frequency_penalty: dropped,
  presence_penalty: dropped,
  seed: dropped,

  n: refused('Anthropic gives one choice a call; call it several times.'),
  logprobs: refused(NO_LOGPROBS),
  top_logprobs: refused(NO_LOGPROBS),
  logit_bias: refused('Anthropic takes no logit biases.'),

  ...onlyOpenai,

  user: mapped('metadata.user_id'),
  safety_identifier: mapped('metadata.user_id'),
  service_tier: mapped('service_tier'),
  web_search_options: mapped('tools'),

  'tools.strict': mapped('tools.strict'),
  prompt_cache_breakpoint: mapped('cache_control'),
}

/**
 * The tier for those who have bought none. Anthropic's own default, `auto`, takes what the account has bought of the priority tier ("Service tiers",
 * platform.claude.com; types of @anthropic-ai/sdk 1.11; read 2026-11-26).
 */
const TIERS = { default: 'standard_only', standard_only: 'standard_only' } as const

/** The model of a request. */
export interface Target {
  /** Anthropic's name of the model. */
  readonly model: string
  readonly facts: ModelFacts
  /** The most tokens of a reply if the request does not say; absent: the model's maximum. */
  readonly maxTokens?: number
  /** Of the attempt. */
  readonly states?: AttemptStates | undefined
}

/** An upstream request, and the parameters that the model does not take. */
export interface Translated {
  readonly request: MessagesRequest
  readonly dropped: readonly string[]
}

/** Of a call whose tools are not held to their schemas. */
const WITHOUT_STRICT: typeof parameters = { ...parameters, 'tools.strict': dropped }

/** The body of `POST /v1/messages`, and the parameters that the model does not take. */
export const messagesBody = defineCallFunction(import.meta.url, 'messagesBody', (call, target: Target) => {
  const { request, dropped } = toMessagesRequest(withCallStates(call.body, target.states), target)
  return { body: Buffer.from(JSON.stringify(request)), dropped }
})

/** The prompt of a call, for `POST /v1/messages/count_tokens` (@anthropic-ai/sdk 1.11, `MessageCountTokensParams`). */
export const countBody = defineCallFunction(import.meta.url, 'countBody', (call, target: Target) => {
  const { model, system, messages, tools, tool_choice, thinking, output_config, cache_control } = toMessagesRequest(
    call.body,
    target,
  ).request
  const prompt = { model, system, messages, tools, tool_choice, thinking, output_config, cache_control }
  return Buffer.from(JSON.stringify(prompt))
})

/** How the format of a request is served: Anthropic's constrained decoding takes no maps, and no object without a schema. */
export const formatPlan = (request: FormatMembers, { structuredOutputs, forcedTools }: ModelFacts): FormatPlan | undefined =>
  planFormat(request, (format) => ({
    schema: structuredOutputs && format.type === 'json_schema' && !hasMaps(format.schema),
    object: false,
    forcedTools,
  }))

/** Whether a call of the Messages API asks for no format that its model is known to lack. `follows`: whether the model follows a schema. */
export function takesFormat(call: Pick<Call, 'keys' | 'member'>, follows: boolean): boolean {
  if (follows || !call.keys.includes('output_config')) return true
  const config = call.member('output_config')
  return !isRecord(config) || config.format == null
}

/** Translates a chat completion request for `POST /v1/messages`. Throws `GatewayError` (400) for parameters that Claude cannot honour. */
export function toMessagesRequest(asked: Readonly<ChatRequest>, target: Target): Translated {
  const { facts } = target
  const plan = formatPlan(asked, facts)
  const body = fitFormat(asked, plan)
  const maxTokens = body.max_completion_tokens ?? body.max_tokens ?? target.maxTokens ?? facts.maxTokens
  const toolset = toToolset(body, facts)
  const maxMarks = MAX_MARKS - marksIn(toolset.tools) - (markOf(body) ? 1 : 0)
  const { messages, ...instructions } = toConversation(body.messages, target.model, maxMarks)
  const forced = isForced(toolset.tool_choice)
  const thinking = readThinking(body)
  const reasoning = toReasoning(thinking, facts, { maxTokens, forced, messages })
  const format = toFormat(body)
  const sampling = toSampling(body, facts.sampling && !reasoning.on)
  const stop = toStop(body)
  const mark = markOf(body)
  const spoken = reasoning.on ? messages : withoutThinking(messages)
  // Claude continues its message neither while it thinks nor by a schema.
  const continues = facts.prefill && !reasoning.on && format === undefined
  const user = textOf(body.safety_identifier ?? body.user)
  const tier = readServiceTier(body, TIERS)
  return {
    request: {
      model: target.model,
      max_tokens: maxTokens,
      ...instructions,
      messages: continues ? spoken : withUserLast(spoken),
      ...toolset,
      ...(reasoning.thinking && { thinking: reasoning.thinking }),
      ...((reasoning.effort || format) && {
        output_config: { ...(reasoning.effort && { effort: reasoning.effort }), ...(format && { format }) },
      }),
      ...(mark && { cache_control: mark }),
      ...sampling.sent,
      ...(stop.sent.length > 0 && { stop_sequences: stop.sent }),
      ...(user && { metadata: { user_id: user } }),
      ...(tier.sent && { service_tier: tier.sent }),
      ...(body.stream && { stream: true }),
    },
    dropped: [
      ...sampling.dropped,
      ...stop.dropped,
      ...(tier.dropped ? ['service_tier'] : []),
      ...(readWebSearch(body)?.size ? ['web_search_options.search_context_size'] : []),
      ...lostFormat(plan),
      ...(thinking && reasoning.dropped ? [thinking.param] : []),
      ...droppedInside(asked, !facts.structuredOutputs || hasStrictMaps(asked) ? WITHOUT_STRICT : parameters),
      ...surplusMarks(asked),
    ],
  }
}

/** Anthropic's temperature ends at 1, and it takes no top_p beside it. Values of 1 change nothing and are omitted. */
function toSampling(body: Readonly<ChatRequest>, allowed: boolean) {
  const temperature = (body.temperature ?? 1) === 1 ? undefined : body.temperature!
  const topP = (body.top_p ?? 1) === 1 ? undefined : body.top_p!
  const topK = readTopK(body)
  const asked = { temperature: temperature && Math.min(temperature, 1), top_p: topP, top_k: topK }
  const names = (['temperature', 'top_p', 'top_k'] as const).filter((name) => asked[name] !== undefined)
  const dropped = names.filter((name) => !allowed || (name === 'top_p' && temperature !== undefined))
  const sent = names.filter((name) => !dropped.includes(name))
  return { sent: Object.fromEntries(sent.map((name) => [name, asked[name]])), dropped }
}

/** Anthropic answers 400 to a blank stop sequence. */
function toStop(body: Readonly<ChatRequest>) {
  const requested = [body.stop ?? []].flat()
  const sent = requested.filter((sequence) => sequence.trim() !== '')
  return { sent, dropped: sent.length < requested.length ? ['stop'] : [] }
}

function toFormat(body: Readonly<ChatRequest>): OutputFormat | undefined {
  const format = readResponseFormat(body.response_format)
  if (format?.type !== 'json_schema') return undefined
  const { schema, description } = format
  return { type: 'json_schema', schema: toStrictSchema({ ...(description && { description }), ...schema }) }
}
