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
import type { VertexModel } from './model-name.ts'

/** What becomes of each field of a request for embeddings: of `:predict`, then of `:embedContent`. docs/endpoints.md is compared with it. */
export const embeddingParameters: Readonly<Record<string, ParameterSupport>> = {
  model: mapped('the address'),
  input: mapped('instances[].content, content'),
  encoding_format: mapped('the reply, which the gateway writes'),
  dimensions: mapped('parameters.outputDimensionality, embedContentConfig.outputDimensionality'),
  user: dropped,
}

/** The body of a request, and the method of the model's address that takes it. */
export interface Embedding {
  readonly method: 'predict' | 'embedContent'
  readonly request: object
}

/**
 * A request for embeddings in Google's shape, by the wire that @google/genai 3.1 speaks to the model. Throws `GatewayError` (400) for what
 * cannot be honoured.
 */
export function toEmbedding(call: Call, { publisher, name }: VertexModel): Embedding {
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

/** The embeddings of a reply of either method. Throws an Error where it has none. */
export function toEmbeddingReply(body: unknown): TranslatedEmbeddings {
  const { predictions, embedding, usageMetadata } = body as Readonly<Record<string, unknown>>
  if (isRecord(embedding)) {
    return toEmbeddings([embedding.values], isRecord(usageMetadata) ? usageMetadata.promptTokenCount : undefined)
  }
  if (!Array.isArray(predictions)) throw new Error('The reply is none of predict or embedContent.')
  const embeddings = predictions.map((prediction) => prediction?.embeddings)
  const counts = embeddings.map((each) => each?.statistics?.token_count)
  return toEmbeddings(
    embeddings.map((each) => each?.values),
    counts.every(Number.isFinite) ? counts.reduce((sum, count) => sum + count, 0) : undefined,
  )
}

/** Those from before gemini-embedding-2: text-embedding-005, text-multilingual-embedding-002, gemini-embedding-001. */
function isOlder(name: string): boolean {
  return !name.includes('gemini') || name === 'gemini-embedding-001'
}
