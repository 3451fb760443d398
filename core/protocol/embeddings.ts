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

const EMBEDDING = '"embedding":'

/**
 * Whether the vectors are not what the call asks for, one for each input. LM Studio and older servers ignore `encoding_format`: SDKs that asked for
 * base64 would read lists of numbers as bytes, without an error.
 */
function hasOtherForm(reply: Buffer, call: Call): boolean {
  const isVectorAt = call.member('encoding_format') === 'base64' ? isFloatsAt : isListAt
  let count = 0
  for (let at = reply.indexOf(EMBEDDING); at >= 0; at = reply.indexOf(EMBEDDING, at + 1)) {
    if (!isVectorAt(reply, at + EMBEDDING.length)) return true
    count++
  }
  // The inputs of a large request were parsed in a worker thread, and are not parsed again to be counted.
  return count === 0 || (!call.large && count !== countOf(call.member('input')))
}

/** How a list of numbers begins. */
const NUMBERS = /^\s*\[\s*[-\d]/

/** Whether a list of numbers begins here. */
const isListAt = (reply: Buffer, at: number): boolean => NUMBERS.test(reply.toString('latin1', at, at + 64))

/** Whether here is the base64 of 32-bit floats. */
function isFloatsAt(reply: Buffer, at: number): boolean {
  const begin = /^\s*"(?=[\w+/-])/.exec(reply.toString('latin1', at, at + 64))?.[0].length
  if (begin === undefined) return false
  const text = reply.subarray(at + begin, reply.indexOf('"', at + begin))
  const padding = text.at(-1) !== PADDING ? 0 : text.at(-2) === PADDING ? 2 : 1
  return Number.isInteger((((text.length - padding) * 3) >> 2) / 4)
}

/** The last byte of some base64: `=`. */
const PADDING = 0x3d

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

/** The vectors of a reply. Throws an Error if there are not as many as expected, or if they are not lists of numbers, all of one length. */
function vectorsOf({ data }: TranslatedEmbeddings, expected = data.length): readonly (readonly number[])[] {
  if (data.length !== expected) throw new Error(`there are ${data.length} embeddings of ${expected} inputs`)
  const vectors = data.map(({ embedding }) => {
    if (isVector(embedding)) return embedding
    throw new Error('an embedding is no list of numbers')
  })
  if (vectors.some(({ length }) => length !== vectors[0]!.length))
    throw new Error('embeddings of one model have different lengths')
  return vectors
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
