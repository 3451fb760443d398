import type { Call, Usage } from '../../plugin/api.ts'
import { refusalOf } from '../../plugin/refusal.ts'
import type { ReplyFormat, WholeFacts } from '../../upstream/endpoint.ts'
import { compileCheck } from '../check.ts'
import type { ModelEndpoint } from './completions.ts'

/** `CreateEmbeddingRequest` of openai-openapi, as far as it must be right for any provider. */
const schema = {
  type: 'object',
  required: ['model', 'input'],
  properties: {
    model: { type: 'string' },
    input: { type: ['string', 'array'], minItems: 1, items: { type: ['string', 'integer', 'array'] } },
    encoding_format: { enum: ['float', 'base64'] },
    dimensions: { type: 'integer', minimum: 1 },
    user: { type: 'string' },
    stream: { enum: [false] },
  },
}

interface Embeddings {
  readonly data?: readonly { readonly embedding?: unknown }[]
  readonly usage?: { readonly prompt_tokens?: unknown }
  readonly error?: unknown
}

/** `POST /v1/embeddings` */
export const embeddings: ModelEndpoint = {
  name: 'embeddings',
  path: '/v1/embeddings',
  check: compileCheck(schema),
  reply: {
    endpoint: 'embeddings',
    whole,
    usage: usageOf,
    normalise,
    generates: false,
  } satisfies ReplyFormat,
}

function whole(bytes: Buffer): WholeFacts | undefined {
  const reply = parse(bytes)
  if (reply?.error != null) return { refusal: refusalOf(reply) }
  return Array.isArray(reply?.data) && reply.data.length > 0 ? { usage: usageOf(reply) } : undefined
}

/** Embeddings use tokens of the prompt only. */
function usageOf({ usage }: Embeddings): Usage | undefined {
  const tokens = usage?.prompt_tokens
  if (!Number.isSafeInteger(tokens) || (tokens as number) < 0) return undefined
  return { prompt_tokens: tokens as number, completion_tokens: 0, total_tokens: tokens as number }
}

/** A provider gives lists of numbers; the official SDKs ask for base64 unless they are told otherwise, and decode it themselves. */
function normalise(translated: object, call: Call): object {
  const { data = [], usage } = translated as Embeddings
  const inBase64 = call.member('encoding_format') === 'base64'
  return {
    object: 'list',
    data: data.map(({ embedding }, index) => ({
      object: 'embedding',
      index,
      embedding: inBase64 ? toBase64(embedding as readonly number[]) : embedding,
    })),
    model: call.model.id,
    ...(usage && { usage: { prompt_tokens: usage.prompt_tokens, total_tokens: usage.prompt_tokens } }),
  }
}

/** Little-endian 32-bit floats, one after the other. */
function toBase64(numbers: readonly number[]): string {
  const bytes = Buffer.alloc(4 * numbers.length)
  for (const [index, number] of numbers.entries()) bytes.writeFloatLE(number, 4 * index)
  return bytes.toString('base64')
}

function parse(bytes: Buffer): Embeddings | undefined {
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch {
    return undefined
  }
}
