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
import type { VertexModel } from './address.ts'
import { encode, type ModelRequest, type Target } from './chat.ts'

/** The support of each field of an embeddings request: fields of `:predict`, then of `:embedContent`. docs/endpoints.md is compared with it by a test. */
export const embeddingParameters: Readonly<Record<string, ParameterSupport>> = {
  model: mapped('the address'),
  input: mapped('instances[].content, content'),
  encoding_format: mapped('the reply, which the gateway writes'),
  dimensions: mapped('parameters.outputDimensionality, embedContentConfig.outputDimensionality'),
  user: dropped,
}

/** An embeddings request to its model's. */
export const embeddingRequest = defineCallFunction(import.meta.url, 'embeddingRequest', (call, { model }: Target) =>
  encode(toEmbeddingRequest(call, model)),
)

/**
 * Translates an embeddings request to the method that @google/genai 3.1 uses for the model. Throws `GatewayError` (400) for parameters that
 * the model cannot honour.
 */
export function toEmbeddingRequest(call: Call, { publisher, name }: VertexModel): ModelRequest {
  if (publisher !== 'google') throw new GatewayError('unsupported_endpoint', { param: 'model', values: { model: call.model.id } })
  const texts = inputTexts(call)
  const outputDimensionality = call.body.dimensions as number | null | undefined
  const sized = outputDimensionality != null && { outputDimensionality }
  if (isOlder(name)) {
    const instances = texts.map((content) => ({ content }))
    return { method: 'predict', request: { instances, ...(sized && { parameters: sized }) } }
  }
  const [text, ...others] = texts
  if (others.length > 0) throw unsupportedParameter('input', 'This model takes one text a request: send them one by one.')
  const content = { role: 'user', parts: [{ text }] }
  return { method: 'embedContent', request: { content, ...(sized && { embedContentConfig: sized }) } }
}

/** Reads the embeddings of a reply of either method. Throws an Error if it has none. */
export function toEmbeddingReply(body: unknown): TranslatedEmbeddings {
  const { predictions, embedding, usageMetadata } = body as Readonly<Record<string, unknown>>
  if (isRecord(embedding)) {
    return toEmbeddings([embedding.values], isRecord(usageMetadata) ? usageMetadata.promptTokenCount : undefined)
  }
  if (!Array.isArray(predictions)) throw new Error('The reply is not one of predict or embedContent.')
  const embeddings = predictions.map((prediction) => prediction?.embeddings)
  const counts = embeddings.map((each) => each?.statistics?.token_count)
  return toEmbeddings(
    embeddings.map((each) => each?.values),
    counts.every(Number.isFinite) ? counts.reduce((sum, count) => sum + count, 0) : undefined,
  )
}

/** Models older than gemini-embedding-2: text-embedding-005, text-multilingual-embedding-002, gemini-embedding-001. */
function isOlder(name: string): boolean {
  return !name.includes('gemini') || name === 'gemini-embedding-001'
}
