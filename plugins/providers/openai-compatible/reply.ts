import {
  isRecord,
  type Model,
  openaiTranslator,
  type Provider,
  readRefusal,
  type Translator,
  type UpstreamRefusal,
} from 'unified-model-gateway/plugin'
import type { Quirk } from './quirks/quirk.ts'

/** Whether a translator with these quirks would change replies. */
export const needsTranslator = (quirks: readonly Quirk[]): boolean =>
  quirks.some(({ stream, completion }) => stream !== undefined || completion !== undefined)

/** Applies the quirks to OpenAI's replies; unknown members are kept. */
export const createTranslator = (quirks: readonly Quirk[]): Translator =>
  openaiTranslator({
    stream: quirks.flatMap(({ stream }) => stream?.() ?? []),
    completion: quirks.flatMap(({ completion }) => completion ?? []),
  })

type ReadError = NonNullable<Provider['error']>

/** A model that exists, but not at this endpoint ("You are not allowed …" is a 403: github.com/infiniflow/ragflow/issues/1835). */
const OTHER_ENDPOINT =
  /\bv1\/(?:chat|completions|embeddings|responses|moderations|images|audio|rerank)\b|not allowed to generate embeddings/i

const UNSUPPORTED: UpstreamRefusal = { status: 404, code: 'unsupported_endpoint' }

const readOpenAi: ReadError = ({ status, headers, body }) => readRefusal(status, headers, body)

/**
 * Reads refusals at endpoints other than chat completions. Vendors without the endpoint answer with the 404 of any unknown path, which
 * names neither a model nor a parameter. `read`: the vendor's own reader of errors.
 */
export function readEndpointRefusal(read: ReadError = readOpenAi): ReadError {
  return (reply) => {
    const refusal = read(reply)
    const { message = '', param } = refusal
    if (reply.status === 405 || OTHER_ENDPOINT.test(message)) return UNSUPPORTED
    if (reply.status !== 404 || /\bmodel\b/i.test(message)) return refusal
    // With a parameter: the request refers to a response or an item that does not exist.
    return param === undefined ? UNSUPPORTED : { ...refusal, status: 400 }
  }
}

/**
 * The models of a reply to `GET {base}/models`: `{data: [{id, …}]}`, or Together's bare array (docs.together.ai/reference/models). Entries
 * without an id are omitted. Throws an Error if the reply is not a list of models, or if no entry has an id.
 */
export function readModels(reply: unknown): readonly Model[] {
  const list: unknown = Array.isArray(reply) ? reply : (reply as { data?: unknown } | null)?.data
  if (!Array.isArray(list)) throw new Error('the reply to GET /models is not a list of models')
  const models = list.flatMap(readModel)
  if (list.length > 0 && models.length === 0) throw new Error('the reply to GET /models has no model with an id')
  return models
}

/** The vendors' names of a model's context length: OpenRouter and Together, Groq, Mistral, vLLM. */
const CONTEXT_LENGTHS = ['context_length', 'context_window', 'max_context_length', 'max_model_len'] as const

/**
 * What else vendors say of a model: Groq `max_completion_tokens`; OpenRouter, and gateways that write lists as it does, `name`, `architecture`,
 * `top_provider` and `supported_parameters` ("Models API Standard", openrouter.ai/docs/models, read 2026-11-26).
 */
function readModel(entry: unknown): readonly Model[] {
  const { id, created, owned_by, name, supported_parameters, ...rest } = (entry ?? {}) as Readonly<Record<string, unknown>>
  if (typeof id !== 'string' || id === '') return []
  const length = CONTEXT_LENGTHS.map((name) => rest[name]).find(isCount)
  const { max_completion_tokens } = { ...rest, ...(isRecord(rest.top_provider) && rest.top_provider) }
  const { input_modalities, output_modalities } = isRecord(rest.architecture) ? rest.architecture : {}
  const lists = { input_modalities, output_modalities, supported_parameters }
  return [
    {
      id,
      ...(isCount(created) && { created }),
      ...(typeof owned_by === 'string' && { owned_by }),
      ...(length !== undefined && { context_length: length }),
      ...(typeof name === 'string' && { name }),
      ...(isCount(max_completion_tokens) && { max_output_tokens: max_completion_tokens }),
      ...Object.fromEntries(Object.entries(lists).filter(([, list]) => isTexts(list))),
    },
  ]
}

const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every((text) => typeof text === 'string')

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) > 0
