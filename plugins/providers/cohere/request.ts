import {
  type ChatRequest,
  type FactsByModel,
  GatewayError,
  isRecord,
  type ResponseFormat,
  unsupportedParameter,
} from 'unified-model-gateway/plugin'
import { toMessages } from './messages.ts'
import { factsOf, type ModelFacts } from './models.ts'
import { toSampling } from './sampling.ts'
import { toThinking } from './thinking.ts'
import { toToolset } from './tools.ts'
import type { ChatBody } from './wire.ts'

/** Where a request goes. */
export interface Target {
  /** What Cohere calls the model. */
  readonly model: string
  /** The operator's own rows on models. */
  readonly facts?: FactsByModel<ModelFacts>
}

/** A request in Cohere's shape, and the parameters it had to leave out for this model. */
export interface Translated {
  readonly request: ChatBody
  readonly dropped: readonly string[]
}

/** A chat completion request as one for `POST /v2/chat`. Throws `GatewayError` (400) for what cannot be honoured. */
export function toChatBody(body: Readonly<ChatRequest>, { model, facts: own }: Target): Translated {
  const facts = factsOf(model, own)
  const maxTokens = body.max_completion_tokens ?? body.max_tokens ?? undefined
  const toolset = toToolset(body, facts)
  const format = toFormat(body.response_format ?? undefined)
  if (format && toolset.tools) {
    throw unsupportedParameter('response_format', 'Cohere writes JSON only where it is offered no tools.')
  }
  const sampling = toSampling(body)
  const { thinking, dropped } = toThinking(body.reasoning_effort ?? undefined, maxTokens ?? facts.maxTokens, facts)
  return {
    request: {
      model,
      messages: toMessages(body.messages),
      ...(body.stream && { stream: true }),
      ...(maxTokens !== undefined && { max_tokens: maxTokens }),
      ...sampling.taken,
      ...toolset,
      ...(format && { response_format: format }),
      ...(thinking && { thinking }),
    },
    dropped: [...sampling.dropped, ...(dropped ? ['reasoning_effort'] : [])],
  }
}

function toFormat(format: ResponseFormat | undefined): ChatBody['response_format'] {
  if (format === undefined || format.type === 'text') return undefined
  if (format.type === 'json_object') return { type: 'json_object' }
  const { schema } = format.json_schema
  if (!isRecord(schema)) throw new GatewayError('missing_required_parameter', { param: 'response_format.json_schema.schema' })
  return { type: 'json_object', json_schema: schema }
}
