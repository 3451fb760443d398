import { type Call, promptEstimate, type TranslatedEmbeddings, type Usage } from '../sdk/api.ts'
import { refusalOf } from '../sdk/refusals.ts'
import type { ModelEndpoint, WholeReply } from './format.ts'
import { checkOf } from './validation.ts'

/** `CreateEmbeddingRequest` of openai-openapi: only rules that hold for any provider. Providers limit the number of inputs. */
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
  check: checkOf(schema),
  reply: { endpoint: 'embeddings', whole, usage: usageOf, normalise, generates: false },
}

function whole(bytes: Buffer): WholeReply | undefined {
  const reply = parseReply(bytes)
  if (reply?.error != null) return { refusal: refusalOf(reply) }
  return Array.isArray(reply?.data) && reply.data.length > 0 ? { usage: usageOf(reply) } : undefined
}

/** Embeddings use prompt tokens only. */
function usageOf(reply: object): Usage | undefined {
  const tokens = (reply as Partial<TranslatedEmbeddings>).usage?.prompt_tokens
  if (!Number.isSafeInteger(tokens) || (tokens as number) < 0) return undefined
  return { prompt_tokens: tokens as number, completion_tokens: 0, total_tokens: tokens as number }
}

/**
 * Providers return lists of numbers; the official SDKs request base64 by default and decode it themselves. Throws if the vectors do
 * not match the request.
 */
function normalise(translated: object, call: Call): object {
  // The inputs of a large request were parsed in a worker thread, and are not parsed again to be counted.
  const vectors = vectorsOf(translated as TranslatedEmbeddings, call.large ? undefined : countOf(call.member('input')))
  const encode = call.member('encoding_format') === 'base64' ? toBase64 : (vector: readonly number[]) => vector
  // Clients rely on usage: the member is not optional.
  const tokens = usageOf(translated)?.prompt_tokens ?? promptEstimate(call)
  return {
    object: 'list',
    data: vectors.map((vector, index) => ({ object: 'embedding', index, embedding: encode(vector) })),
    model: call.model.id,
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  }
}

/** The members read of an embeddings reply. */
interface ParsedReply {
  readonly data?: unknown
  readonly usage?: { readonly prompt_tokens?: unknown }
  readonly error?: unknown
}

/** A reply up to this size (bytes) is parsed whole; the vectors of a larger one would block the event loop. */
const WHOLE_BELOW = 64 * 1024

/** Parses a reply, a large one with only its last vector. Undefined if no JSON object. */
function parseReply(bytes: Buffer): ParsedReply | undefined {
  return (bytes.length > WHOLE_BELOW ? parseLarge(bytes) : undefined) ?? parseObject(bytes.toString('utf8'))
}

/** Parses the bytes before the vectors plus those from the last vector on: native searches find both. */
function parseLarge(bytes: Buffer): ParsedReply | undefined {
  const data = bytes.indexOf('"data"')
  const last = bytes.lastIndexOf('"embedding":')
  if (data < 0 || last < data) return undefined
  return parseObject(`${bytes.toString('utf8', 0, data)}"data":[{${bytes.toString('utf8', last)}`)
}

/** Undefined if not a JSON object. */
function parseObject(text: string): ParsedReply | undefined {
  try {
    const value = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}

/** The vectors of a reply. Throws an Error if there are not as many as expected, or if one is not a list of numbers. */
function vectorsOf({ data }: TranslatedEmbeddings, expected = data.length): readonly (readonly number[])[] {
  if (data.length !== expected) throw new Error(`there are ${data.length} embeddings of ${expected} inputs`)
  return data.map(({ embedding }) => {
    if (isVector(embedding)) return embedding
    throw new Error('an embedding is no list of numbers')
  })
}

/** Encodes a vector as OpenAI does: consecutive little-endian 32-bit floats. */
function toBase64(vector: readonly number[]): string {
  const bytes = Buffer.alloc(4 * vector.length)
  for (const [index, number] of vector.entries()) bytes.writeFloatLE(number, 4 * index)
  return bytes.toString('base64')
}

/** Counts texts or lists of tokens: one or several. */
function countOf(input: unknown): number {
  return Array.isArray(input) && typeof input[0] !== 'number' ? input.length : 1
}

/** JSON numbers can overflow: `1e999`. */
function isVector(embedding: unknown): embedding is readonly number[] {
  return Array.isArray(embedding) && embedding.length > 0 && embedding.every(Number.isFinite)
}
