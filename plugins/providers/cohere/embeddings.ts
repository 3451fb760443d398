import {
  type Call,
  dropped,
  inputTexts,
  invalidValue,
  mapped,
  type ParameterSupport,
  type TranslatedEmbeddings,
  toEmbeddings,
} from 'unified-model-gateway/plugin'
import { toUsage } from './usage.ts'
import type { WireUsage } from './wire.ts'

/** What becomes of each field of a request for embeddings. docs/endpoints.md is compared with it by a test. */
export const embeddingParameters: Readonly<Record<string, ParameterSupport>> = {
  model: mapped('model'),
  input: mapped('texts'),
  encoding_format: mapped('the reply, which the gateway writes'),
  dimensions: mapped('output_dimension'),
  // Not OpenAI's: a client that searches sends it, because Cohere's models look at a query and at what it may find by turns.
  input_type: mapped('input_type'),
  user: dropped,
}

/** What texts can be meant for. The first is what OpenAI's embeddings are mostly made for, and stands where a client does not say. */
const INPUT_TYPES = ['search_document', 'search_query', 'classification', 'clustering']

/** The body of `POST /v2/embed`, as far as it is sent, but for the model (cohere-ai 8.1, `V2EmbedRequest`). Bedrock takes the same. */
export interface EmbedRequest {
  readonly texts: readonly string[]
  readonly input_type: string
  readonly embedding_types: readonly ['float']
  readonly output_dimension?: number
}

/** Its reply, which is not taken on trust. */
interface EmbedReply {
  readonly embeddings?: { readonly float?: unknown } | null
  readonly meta?: WireUsage | null
}

/** A request for embeddings in Cohere's shape. Throws `GatewayError` (400) for lists of tokens, and for an unknown `input_type`. */
export function toEmbedRequest(call: Call): EmbedRequest {
  const { dimensions, input_type: type = null } = call.body as { dimensions?: number | null; input_type?: string | null }
  if (type !== null && !INPUT_TYPES.includes(type)) throw invalidValue('input_type', `expected one of ${INPUT_TYPES.join(', ')}`)
  return {
    texts: inputTexts(call),
    input_type: type ?? INPUT_TYPES[0]!,
    embedding_types: ['float'],
    ...(dimensions != null && { output_dimension: dimensions }),
  }
}

/** The embeddings of a reply. Throws an Error where it has none. */
export function toEmbedReply(body: unknown): TranslatedEmbeddings {
  const { embeddings, meta } = body as EmbedReply
  if (!Array.isArray(embeddings?.float)) throw new Error('The reply has no embeddings of type float.')
  return toEmbeddings(embeddings.float, toUsage(meta)?.prompt_tokens)
}
