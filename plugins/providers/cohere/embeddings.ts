import {
  type Call,
  defineCallFunction,
  dropped,
  inputTexts,
  invalidValue,
  mapped,
  type ParameterSupport,
  type TranslatedEmbeddings,
  toEmbeddings,
} from 'unified-model-gateway/plugin'
import { toUsage } from './reply.ts'
import type { WireUsage } from './wire.ts'

/** The support of each field of an embeddings request. docs/endpoints.md is compared with it by a test. */
export const embeddingParameters: Readonly<Record<string, ParameterSupport>> = {
  model: mapped('model'),
  input: mapped('texts'),
  encoding_format: mapped('the reply, which the gateway writes'),
  dimensions: mapped('output_dimension'),
  // Not OpenAI's: clients that search send it, because Cohere's models treat queries and documents differently.
  input_type: mapped('input_type'),
  user: dropped,
}

/** The purposes of embeddings. The default is the first, the most common use of OpenAI's. */
const INPUT_TYPES = ['search_document', 'search_query', 'classification', 'clustering']

/** The body of `POST /v2/embed` without the model (cohere-ai 8.1, `V2EmbedRequest`). Bedrock takes the same. */
export interface EmbedRequest {
  readonly texts: readonly string[]
  readonly input_type: string
  readonly embedding_types: readonly ['float']
  readonly output_dimension?: number
}

/** Its reply, with unchecked members. */
interface EmbedReply {
  readonly embeddings?: { readonly float?: unknown } | null
  readonly meta?: WireUsage | null
}

/** The body of `POST /v2/embed`. */
export const embedBody = defineCallFunction(import.meta.url, 'embedBody', (call, model: string) =>
  Buffer.from(JSON.stringify({ model, ...toEmbedRequest(call) })),
)

/** Translates an embeddings request. Throws `GatewayError` (400) for lists of tokens, and for an unknown `input_type`. */
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

/** Reads the embeddings of a reply. Throws an Error if it has none. */
export function toEmbedReply(body: unknown): TranslatedEmbeddings {
  const { embeddings, meta } = body as EmbedReply
  if (!Array.isArray(embeddings?.float)) throw new Error('The reply has no embeddings of type float.')
  return toEmbeddings(embeddings.float, toUsage(meta)?.prompt_tokens)
}
