import {
  type Call,
  defineCallFunction,
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

/** The support of each field of an embeddings request: Titan's fields, then Cohere's. docs/endpoints.md is compared with it by a test. */
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

/** The families of models, by their names: an id, the id of an inference profile, or an ARN that contains either. */
const FAMILIES: readonly (readonly [name: RegExp, toRequest: (call: Call) => TitanRequest | EmbedRequest])[] = [
  [/\bamazon\.titan-embed-text-/, toTitanRequest],
  [/\bcohere\.embed-/, toEmbedRequest],
]

/** The number of input tokens, of every model; Cohere's bodies omit it (github.com/vercel/ai/pull/15973). */
const TOKENS_HEADER = 'x-amzn-bedrock-input-token-count'

/** The body of InvokeModel. */
export const invokeBody = defineCallFunction(import.meta.url, 'invokeBody', (call, model: string) =>
  Buffer.from(JSON.stringify(toInvokeRequest(call, model))),
)

/** Translates an embeddings request to the body of InvokeModel. Throws `GatewayError` (400) for parameters that the model cannot honour. */
export function toInvokeRequest(call: Call, model: string): TitanRequest | EmbedRequest {
  const toRequest = FAMILIES.find(([name]) => name.test(model))?.[1]
  if (toRequest === undefined)
    throw new GatewayError('unsupported_endpoint', { param: 'model', values: { model: call.model.id } })
  return toRequest(call)
}

/** Reads the embeddings of a reply of either family. Throws an Error if it has none. */
export function toInvokeReply(body: unknown, headers: Readonly<Record<string, string>>): TranslatedEmbeddings {
  const tokens = inputTokens(headers)
  if (isRecord(body) && body.embedding !== undefined) return toEmbeddings([body.embedding], body.inputTextTokenCount ?? tokens)
  return toEmbeddings(
    toEmbedReply(body).data.map(({ embedding }) => embedding),
    tokens,
  )
}

/** The number of input tokens that a reply of InvokeModel reports. */
export function inputTokens(headers: Readonly<Record<string, string>>): number | undefined {
  const count = Number.parseInt(headers[TOKENS_HEADER] ?? '', 10)
  return Number.isNaN(count) ? undefined : count
}

function toTitanRequest(call: Call): TitanRequest {
  const [inputText, ...others] = inputTexts(call)
  if (others.length > 0) throw unsupportedParameter('input', 'Titan takes one text a request: send them one by one.')
  if (call.body.input_type != null) throw unsupportedParameter('input_type', 'Titan knows one kind of text.')
  const dimensions = call.body.dimensions as number | null | undefined
  return { inputText: inputText!, ...(dimensions != null && { dimensions }) }
}
