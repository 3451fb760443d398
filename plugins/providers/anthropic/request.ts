import { type ChatRequest, GatewayError, isRecord, type ResponseFormat, unsupportedParameter } from 'unified-model-gateway/plugin'
import { toConversation } from './messages.ts'
import type { ModelFacts } from './models.ts'
import { toReasoning } from './reasoning.ts'
import { toStrictSchema } from './schema.ts'
import { canGoOnThinking, withoutThinking } from './thinking.ts'
import { isForced, toToolset } from './tools.ts'
import type { MessagesRequest, OutputFormat } from './wire.ts'

/** Where a request goes. */
export interface Target {
  /** What Anthropic calls the model. */
  readonly model: string
  readonly facts: ModelFacts
  /** Tokens of a reply to a request that does not say; absent: the most the model gives. */
  readonly maxTokens?: number
}

/** A request in Anthropic's shape, and the parameters it had to leave out for this model. */
export interface Translated {
  readonly request: MessagesRequest
  readonly dropped: readonly string[]
}

/** A chat completion request as one for `POST /v1/messages`. Throws `GatewayError` (400) for what cannot be honoured. */
export function toMessagesRequest(body: Readonly<ChatRequest>, target: Target): Translated {
  const { facts } = target
  const maxTokens = body.max_completion_tokens ?? body.max_tokens ?? target.maxTokens ?? facts.maxTokens
  const { messages, ...instructions } = toConversation(body.messages, target.model)
  const toolset = toToolset(body, facts)
  const reasoning = toReasoning(body.reasoning_effort ?? undefined, facts, {
    maxTokens,
    forced: isForced(toolset.tool_choice),
    canGoOn: canGoOnThinking(messages),
  })
  const format = toFormat(body.response_format ?? undefined, facts)
  const sampling = toSampling(body, facts.sampling && !reasoning.on)
  const stop = toStop(body.stop ?? undefined)
  return {
    request: {
      model: target.model,
      max_tokens: maxTokens,
      ...instructions,
      messages: reasoning.on ? messages : withoutThinking(messages),
      ...toolset,
      ...(reasoning.thinking && { thinking: reasoning.thinking }),
      ...((reasoning.effort || format) && {
        output_config: { ...(reasoning.effort && { effort: reasoning.effort }), ...(format && { format }) },
      }),
      ...sampling.taken,
      ...(stop.taken.length > 0 && { stop_sequences: stop.taken }),
      ...(body.stream && { stream: true }),
    },
    dropped: [...sampling.dropped, ...stop.dropped, ...(reasoning.dropped ? ['reasoning_effort'] : [])],
  }
}

/** Anthropic's temperature ends at 1, and beside it no top_p is taken. At 1 either changes nothing and is left out. */
function toSampling(body: Readonly<ChatRequest>, allowed: boolean) {
  const temperature = (body.temperature ?? 1) === 1 ? undefined : body.temperature!
  const topP = (body.top_p ?? 1) === 1 ? undefined : body.top_p!
  const named = [...(temperature === undefined ? [] : ['temperature']), ...(topP === undefined ? [] : ['top_p'])]
  if (!allowed) return { taken: {}, dropped: named }
  if (temperature === undefined) return { taken: topP === undefined ? {} : { top_p: topP }, dropped: [] }
  return { taken: { temperature: Math.min(temperature, 1) }, dropped: named.slice(1) }
}

/** Anthropic answers 400 to a stop sequence of white space alone. */
function toStop(stop: string | readonly string[] | undefined) {
  const asked = typeof stop === 'string' ? [stop] : (stop ?? [])
  const taken = asked.filter((sequence) => sequence.trim() !== '')
  return { taken, dropped: taken.length < asked.length ? ['stop'] : [] }
}

function toFormat(format: ResponseFormat | undefined, facts: ModelFacts): OutputFormat | undefined {
  if (format === undefined || format.type === 'text') return undefined
  if (format.type !== 'json_schema') {
    throw unsupportedParameter('response_format', 'Claude writes JSON by a schema: send `json_schema`.')
  }
  if (!facts.structuredOutputs) throw unsupportedParameter('response_format', 'Claude follows a schema from version 4.1 on.')
  const { schema, description } = format.json_schema
  if (!isRecord(schema)) throw new GatewayError('missing_required_parameter', { param: 'response_format.json_schema.schema' })
  return { type: 'json_schema', schema: toStrictSchema({ ...(description && { description }), ...schema }) }
}
