import type { Call, TranslatedEmbeddings, Usage } from '../../plugin/api.ts'
import { refusalOf } from '../../plugin/refusal.ts'
import type { WholeFacts } from '../../upstream/endpoint.ts'
import { promptEstimate } from '../../upstream/usage.ts'
import { compileCheck } from '../check.ts'
import type { ModelEndpoint } from './completions.ts'
import { outline } from './embeddings/outline.ts'
import { toBase64, vectorsOf } from './embeddings/vectors.ts'

/** `CreateEmbeddingRequest` of openai-openapi, as far as it must be right for any provider. How many inputs are too many, providers say. */
const schema = {
  type: 'object',
  required: ['model', 'input'],
  properties: {
    model: { type: 'string' },
    input: {
      type: ['string', 'array'],
      minItems: 1,
      items: { type: ['string', 'integer', 'array'], minItems: 1, items: { type: 'integer' } },
    },
    encoding_format: { enum: ['float', 'base64'] },
    dimensions: { type: 'integer', minimum: 1 },
    user: { type: 'string' },
    stream: { enum: [false] },
  },
}

/** `POST /v1/embeddings` */
export const embeddings: ModelEndpoint = {
  name: 'embeddings',
  path: '/v1/embeddings',
  check: compileCheck(schema),
  reply: { endpoint: 'embeddings', whole, usage: usageOf, normalise, generates: false },
}

function whole(bytes: Buffer): WholeFacts | undefined {
  const reply = outline(bytes)
  if (reply?.error != null) return { refusal: refusalOf(reply) }
  return Array.isArray(reply?.data) && reply.data.length > 0 ? { usage: usageOf(reply) } : undefined
}

/** Embeddings use tokens of the prompt only. */
function usageOf(reply: object): Usage | undefined {
  const tokens = (reply as Partial<TranslatedEmbeddings>).usage?.prompt_tokens
  if (!Number.isSafeInteger(tokens) || (tokens as number) < 0) return undefined
  return { prompt_tokens: tokens as number, completion_tokens: 0, total_tokens: tokens as number }
}

/**
 * A provider gives lists of numbers; the official SDKs ask for base64 unless they are told otherwise, and decode it themselves. Throws
 * where the vectors are not what was asked for.
 */
function normalise(translated: object, call: Call): object {
  const vectors = vectorsOf(translated as TranslatedEmbeddings, call.member('input'))
  const encode = call.member('encoding_format') === 'base64' ? toBase64 : (vector: readonly number[]) => vector
  // Every client may count on usage: it is no optional member.
  const tokens = usageOf(translated)?.prompt_tokens ?? promptEstimate(call)
  return {
    object: 'list',
    data: vectors.map((vector, index) => ({ object: 'embedding', index, embedding: encode(vector) })),
    model: call.model.id,
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  }
}
