import {
  type ChatRequest,
  type FactsByModel,
  GatewayError,
  isRecord,
  type ResponseFormat,
  unsupportedParameter,
} from 'unified-model-gateway/plugin'
import { toStrictSchema } from '../anthropic/schema.ts'
import { toConversation } from './messages.ts'
import { factsOf, type ModelFacts } from './models.ts'
import { toReasoning } from './reasoning.ts'
import { withoutThoughts } from './thought.ts'
import { toToolset } from './tools.ts'
import type { ConverseRequest, InferenceConfig, TextFormat } from './wire.ts'

/** Where a request goes. */
export interface Target {
  /** What Bedrock calls the model: an id or an ARN. */
  readonly model: string
  /** The operator's own rows on models. */
  readonly facts?: FactsByModel<ModelFacts>
  readonly guardrail?: { readonly id: string; readonly version: string }
}

/** A request in Converse's shape, and the parameters it had to leave out for this model. */
export interface Translated {
  readonly request: ConverseRequest
  readonly dropped: readonly string[]
}

/** A chat completion request as one for Converse. Throws `GatewayError` (400) for what cannot be honoured. */
export function toConverseRequest(body: Readonly<ChatRequest>, { model, facts: own, guardrail }: Target): Translated {
  const facts = factsOf(model, own)
  const { system, messages } = toConversation(body.messages, model, facts)
  const toolset = toToolset(body, messages, facts)
  const maxTokens = body.max_completion_tokens ?? body.max_tokens ?? undefined
  const reasoning = toReasoning(body.reasoning_effort ?? undefined, facts, { maxTokens, forced: toolset.forced, messages })
  const textFormat = toTextFormat(body.response_format ?? undefined, facts)
  const sampling = toSampling(body, reasoning.fixesSampling ? 'none' : facts.sampling)
  const stop = toStop(body.stop ?? undefined)
  const limit = maxTokens ?? reasoning.maxTokens
  const inferenceConfig = { ...(limit !== undefined && { maxTokens: limit }), ...sampling.taken, ...stop.taken }
  const fields = { ...toolset.fields, ...reasoning.fields }
  return {
    request: {
      messages: reasoning.on ? messages : withoutThoughts(messages),
      ...(system.length > 0 && { system }),
      ...(Object.keys(inferenceConfig).length > 0 && { inferenceConfig }),
      ...(toolset.toolConfig && { toolConfig: toolset.toolConfig }),
      ...(guardrail && { guardrailConfig: { guardrailIdentifier: guardrail.id, guardrailVersion: guardrail.version } }),
      ...(textFormat && { outputConfig: { textFormat } }),
      ...(Object.keys(fields).length > 0 && { additionalModelRequestFields: fields }),
    },
    dropped: [...toolset.dropped, ...sampling.dropped, ...stop.dropped, ...(reasoning.dropped ? ['reasoning_effort'] : [])],
  }
}

interface Taken {
  readonly taken: InferenceConfig
  readonly dropped: readonly string[]
}

/** Converse's temperature ends at 1. Models that do not take both take 1, the default of either, for nothing said. */
function toSampling({ temperature, top_p: topP }: Readonly<ChatRequest>, allowed: ModelFacts['sampling']): Taken {
  const asked = { ...(temperature != null && { temperature: Math.min(temperature, 1) }), ...(topP != null && { topP }) }
  if (allowed === 'both') return { taken: asked, dropped: [] }
  const [first, ...others] = Object.entries(asked).filter(([, value]) => value !== 1)
  const left = allowed === 'one' ? others : [first, ...others].filter((entry) => entry !== undefined)
  return {
    taken: allowed === 'one' && first ? Object.fromEntries([first]) : {},
    dropped: left.map(([name]) => (name === 'topP' ? 'top_p' : name)),
  }
}

/** Models answer 400 to a stop sequence of white space alone. */
function toStop(stop: string | readonly string[] | undefined): Taken {
  const asked = typeof stop === 'string' ? [stop] : (stop ?? [])
  const stopSequences = asked.filter((sequence) => sequence.trim() !== '')
  return {
    taken: stopSequences.length > 0 ? { stopSequences } : {},
    dropped: stopSequences.length < asked.length ? ['stop'] : [],
  }
}

function toTextFormat(format: ResponseFormat | undefined, facts: ModelFacts): TextFormat | undefined {
  if (format === undefined || format.type === 'text') return undefined
  if (format.type !== 'json_schema') {
    throw unsupportedParameter('response_format', 'Bedrock writes JSON by a schema: send `json_schema`.')
  }
  if (!facts.schemas) throw unsupportedParameter('response_format', 'On Bedrock this model does not follow a schema.')
  const { name, description, schema } = format.json_schema
  if (!isRecord(schema)) throw new GatewayError('missing_required_parameter', { param: 'response_format.json_schema.schema' })
  const jsonSchema = { schema: JSON.stringify(toStrictSchema(schema)), name, ...(description && { description }) }
  return { type: 'json_schema', structure: { jsonSchema } }
}
