import { type Call, promptEstimate, type TranslatedEmbeddings, type Usage } from '../sdk/api.ts'
import { refusalOf } from '../sdk/refusals.ts'
import { MEDIA_BYTES, type ModelEndpoint, type WholeReply } from './format.ts'
import type { ScannedReply } from './upstream-json.ts'
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
  reply: {
    endpoint: 'embeddings',
    maxBytes: MEDIA_BYTES,
    outline,
    whole,
    hasOtherForm,
    usage: usageOf,
    normalise,
    generates: false,
  },
}

function whole(reply: ScannedReply): WholeReply | undefined {
  if (reply.has('error')) return { refusal: refusalOf(reply.pick('error')) }
  return reply.listsObjects('data') ? { usage: usageOf(reply.pick('usage')) } : undefined
}

/** LM Studio and older servers ignore `encoding_format`: SDKs that asked for base64 would read lists of numbers as bytes, without an error. */
function hasOtherForm(reply: Buffer, call: Call): boolean {
  const first = reply.indexOf('"embedding":')
  const begin = /^\s*(\S)/.exec(reply.toString('latin1', first + '"embedding":'.length, first + 64))?.[1]
  return first < 0 || begin !== (call.member('encoding_format') === 'base64' ? '"' : '[')
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

/** A reply up to this size, in bytes, is scanned as it is: the numbers of a longer one would take longer than all else. */
const SHORT = 64 * 1024

/** The bytes before the vectors and those from the last vector on: native searches find both. */
function outline(bytes: Buffer): Buffer | undefined {
  if (bytes.length <= SHORT) return undefined
  const data = bytes.indexOf('"data"')
  const last = bytes.lastIndexOf('"embedding":')
  const size = data + bytes.length - last
  if (data < 0 || last < data || size > SHORT * 4) return undefined
  return Buffer.concat([bytes.subarray(0, data), Buffer.from('"data":[{'), bytes.subarray(last)])
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
