import {
  type Call,
  defineCallFunction,
  isRecord,
  mapped,
  type ParameterSupport,
  unsupportedParameter,
} from 'unified-model-gateway/plugin'

/** The support of each field of a request to rank texts. */
export const rerankParameters: Readonly<Record<string, ParameterSupport>> = {
  model: mapped('model'),
  query: mapped('query'),
  documents: mapped('documents'),
  top_n: mapped('top_n'),
  max_tokens_per_doc: mapped('max_tokens_per_doc'),
  return_documents: mapped('the reply, which the gateway writes'),
}

/** A request to rank texts, without its model (cohere-ai 8.1, `V2RerankRequest`). */
export interface RerankRequest {
  readonly query: unknown
  readonly documents: readonly string[]
  readonly top_n?: unknown
  readonly max_tokens_per_doc?: unknown
}

/** The body of `POST /v2/rerank`. */
export const rerankBody = defineCallFunction(import.meta.url, 'rerankBody', (call, model: string) =>
  Buffer.from(JSON.stringify({ model, ...toRerankRequest(call) })),
)

/** Translates a request. Throws `GatewayError` (400) for a document that is not a text. */
export function toRerankRequest(call: Call): RerankRequest {
  const { query, documents, top_n, max_tokens_per_doc } = call.body as Readonly<Record<string, unknown>>
  return {
    query,
    documents: (documents as readonly unknown[]).map(textOf),
    ...(top_n != null && { top_n }),
    ...(max_tokens_per_doc != null && { max_tokens_per_doc }),
  }
}

function textOf(document: unknown, index: number): string {
  const text = isRecord(document) ? document.text : document
  if (typeof text === 'string') return text
  throw unsupportedParameter(`documents[${index}]`, 'Give a text, or an object with a `text`.')
}

/** Reads a ranking. Throws an Error if there is none. */
export function toRanking(body: unknown): object {
  if (isRecord(body) && Array.isArray(body.results) && body.results.length > 0 && body.results.every(isRank)) return body
  throw new Error('The reply has no ranking.')
}

const isRank = (rank: unknown): boolean =>
  isRecord(rank) && Number.isSafeInteger(rank.index) && typeof rank.relevance_score === 'number'
