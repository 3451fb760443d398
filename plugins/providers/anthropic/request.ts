import {
  type CallStates,
  type ChatRequest,
  defineCallFunction,
  dropped,
  droppedInside,
  lostPictures,
  mapped,
  onlyOpenai,
  type ParameterSupport,
  readResponseFormat,
  readThinking,
  refused,
  unsupportedParameter,
  withCallStates,
} from 'unified-model-gateway/plugin'
import { markOf } from './content.ts'
import { JSON_INSTRUCTION } from './json-object.ts'
import { MAX_MARKS, surplusMarks, toConversation, withUserLast } from './messages.ts'
import type { ModelFacts } from './models.ts'
import { toReasoning, withoutThinking } from './reasoning.ts'
import { expectNoMaps, hasStrictMaps, toStrictSchema } from './schema.ts'
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
  stop: mapped('stop_sequences'),
  tools: mapped('tools'),
  tool_choice: mapped('tool_choice'),
  parallel_tool_calls: mapped('tool_choice.disable_parallel_tool_use'),
  response_format: mapped('output_config.format, system for json_object'),
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

  'tools.strict': mapped('tools.strict'),
  prompt_cache_breakpoint: mapped('cache_control'),
}

/** The model of a request. */
export interface Target {
  /** Anthropic's name of the model. */
  readonly model: string
  readonly facts: ModelFacts
  /** The most tokens of a reply if the request does not say; absent: the model's maximum. */
  readonly maxTokens?: number
  /** Of the attempt. */
  readonly states?: CallStates | undefined
}

/** An upstream request, and the parameters that the model does not take. */
export interface Translated {
  readonly request: MessagesRequest
  readonly dropped: readonly string[]
}

/** The body of `POST /v1/messages`, and the parameters that the model does not take. */
export const messagesBody = defineCallFunction(import.meta.url, 'messagesBody', (call, target: Target) => {
  const { request, dropped } = toMessagesRequest(withCallStates(call.body, target.states), target)
  return { body: Buffer.from(JSON.stringify(request)), dropped }
})

/** Translates a chat completion request for `POST /v1/messages`. Throws `GatewayError` (400) for parameters that Claude cannot honour. */
export function toMessagesRequest(body: Readonly<ChatRequest>, target: Target): Translated {
  const { facts } = target
  const maxTokens = body.max_completion_tokens ?? body.max_tokens ?? target.maxTokens ?? facts.maxTokens
  const toolset = toToolset(body, facts)
  const { messages, ...instructions } = toConversation(body.messages, target.model, {
    instructions: body.response_format?.type === 'json_object' ? [JSON_INSTRUCTION] : [],
    maxMarks: MAX_MARKS - marksIn(toolset.tools) - (markOf(body) ? 1 : 0),
  })
  const forced = isForced(toolset.tool_choice)
  const asked = readThinking(body)
  const reasoning = toReasoning(asked, facts, { maxTokens, forced, messages })
  const format = toFormat(body, facts)
  const sampling = toSampling(body, facts.sampling && !reasoning.on)
  const stop = toStop(body)
  const mark = markOf(body)
  const spoken = reasoning.on ? messages : withoutThinking(messages)
  // Claude continues its message neither while it thinks nor by a schema.
  const continues = facts.prefill && !reasoning.on && format === undefined
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
      ...(body.stream && { stream: true }),
    },
    dropped: [
      ...sampling.dropped,
      ...stop.dropped,
      ...(asked && reasoning.dropped ? [asked.param] : []),
      ...droppedInside(body, {
        ...parameters,
        ...((!facts.structuredOutputs || hasStrictMaps(body)) && { 'tools.strict': dropped }),
      }),
      ...surplusMarks(body),
      ...lostPictures(body),
    ],
  }
}

/** Anthropic's temperature ends at 1, and it takes no top_p beside it. Values of 1 change nothing and are omitted. */
function toSampling(body: Readonly<ChatRequest>, allowed: boolean) {
  const temperature = (body.temperature ?? 1) === 1 ? undefined : body.temperature!
  const topP = (body.top_p ?? 1) === 1 ? undefined : body.top_p!
  const names = [...(temperature === undefined ? [] : ['temperature']), ...(topP === undefined ? [] : ['top_p'])]
  if (!allowed) return { sent: {}, dropped: names }
  if (temperature === undefined) return { sent: topP === undefined ? {} : { top_p: topP }, dropped: [] }
  return { sent: { temperature: Math.min(temperature, 1) }, dropped: names.slice(1) }
}

/** Anthropic answers 400 to a blank stop sequence. */
function toStop(body: Readonly<ChatRequest>) {
  const requested = [body.stop ?? []].flat()
  const sent = requested.filter((sequence) => sequence.trim() !== '')
  return { sent, dropped: sent.length < requested.length ? ['stop'] : [] }
}

function toFormat(body: Readonly<ChatRequest>, facts: ModelFacts): OutputFormat | undefined {
  const format = readResponseFormat(body.response_format)
  if (format?.type !== 'json_schema') return undefined
  if (!facts.structuredOutputs) throw unsupportedParameter('response_format', 'Claude follows a schema from version 4.1 on.')
  const { schema, description } = format
  expectNoMaps(schema)
  return { type: 'json_schema', schema: toStrictSchema({ ...(description && { description }), ...schema }) }
}
