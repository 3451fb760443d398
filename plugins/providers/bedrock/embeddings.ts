import {
  type Call,
  dropped,
  GatewayError,
  inputTexts,
  isRecord,
  mapped,
  type ParameterSupport,
  type TranslatedEmbeddings,
  toEmbeddings,
  unsupportedParameter,
} from 'unified-model-gateway/plugin'
import { type EmbedRequest, toEmbedReply, toEmbedRequest } from '../cohere/embeddings.ts'

/** What becomes of each field of a request for embeddings: of Titan's, then of Cohere's. docs/endpoints.md is compared with it by a test. */
export const embeddingParameters: Readonly<Record<string, ParameterSupport>> = {
  model: mapped('the path'),
  input: mapped('inputText, texts'),
  encoding_format: mapped('the reply, which the gateway writes'),
  dimensions: mapped('dimensions, output_dimension'),
  input_type: mapped('input_type, of Cohere only'),
  user: dropped,
}

/** The body of InvokeModel for Titan Text Embeddings ("Amazon Titan Embeddings Text", Amazon Bedrock user guide). */
export interface TitanRequest {
  readonly inputText: string
  /** 256, 512 or 1024; of the second version only. */
  readonly dimensions?: number
}

/** The families of models, by their names: an id, the id of an inference profile, or an ARN with one of them. */
const FAMILIES: readonly (readonly [name: RegExp, toRequest: (call: Call) => TitanRequest | EmbedRequest])[] = [
  [/\bamazon\.titan-embed-text-/, toTitanRequest],
  [/\bcohere\.embed-/, toEmbedRequest],
]

/** Tells of every model what it read; Cohere's replies do not say (github.com/vercel/ai/pull/15973). */
const TOKENS_HEADER = 'x-amzn-bedrock-input-token-count'

/** A request for embeddings as the body of InvokeModel. Throws `GatewayError` (400) for what cannot be honoured. */
export function toInvokeRequest(call: Call, model: string): TitanRequest | EmbedRequest {
  const toRequest = FAMILIES.find(([name]) => name.test(model))?.[1]
  if (toRequest === undefined)
    throw new GatewayError('unsupported_endpoint', { param: 'model', values: { model: call.model.id } })
  return toRequest(call)
}

/** The embeddings of a reply, of either family. Throws an Error where it has none. */
export function toInvokeReply(body: unknown, headers: Readonly<Record<string, string>>): TranslatedEmbeddings {
  const told = Number.parseInt(headers[TOKENS_HEADER] ?? '', 10)
  const tokens = Number.isNaN(told) ? undefined : told
  if (isRecord(body) && body.embedding !== undefined) return toEmbeddings([body.embedding], body.inputTextTokenCount ?? tokens)
  return toEmbeddings(
    toEmbedReply(body).data.map(({ embedding }) => embedding),
    tokens,
  )
}

function toTitanRequest(call: Call): TitanRequest {
  const [inputText, ...others] = inputTexts(call)
  if (others.length > 0) throw unsupportedParameter('input', 'Titan takes one text a request: send them one by one.')
  if (call.body.input_type != null) throw unsupportedParameter('input_type', 'Titan knows one kind of text.')
  const dimensions = call.body.dimensions as number | null | undefined
  return { inputText: inputText!, ...(dimensions != null && { dimensions }) }
}
