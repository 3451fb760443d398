import { defineCallFunction, unsupportedParameter } from 'unified-model-gateway/plugin'
import { type RerankRequest, toRanking, toRerankRequest } from '../cohere/rerank.ts'
import { inputTokens } from './embeddings.ts'

/**
 * The body of InvokeModel. Cohere's takes the version of its own API with it; Amazon's has the same members but one ("Use a reranker model",
 * Amazon Bedrock user guide; "Amazon Rerank 1.0"). The operation Rerank of bedrock-agent-runtime is at another address, and API keys do not open it.
 */
export type InvokeRerankRequest = RerankRequest & { readonly api_version?: 2 }

const COHERE = /\bcohere\.rerank-/
const AMAZON = /\bamazon\.rerank-/

/** Whether a model ranks texts, by its id or ARN. */
export const isReranker = (model: string): boolean => COHERE.test(model) || AMAZON.test(model)

/** The body of InvokeModel, as bytes. */
export const invokeRerankBody = defineCallFunction(import.meta.url, 'invokeRerankBody', (call, model: string) => {
  const request = toRerankRequest(call)
  if (COHERE.test(model)) return Buffer.from(JSON.stringify({ ...request, api_version: 2 } satisfies InvokeRerankRequest))
  if (request.max_tokens_per_doc != null) throw unsupportedParameter('max_tokens_per_doc', 'Only models of Cohere take it.')
  return Buffer.from(JSON.stringify(request))
})

/** Reads a ranking. Throws an Error if there is none. */
export function toInvokedRanking(body: unknown, headers: Readonly<Record<string, string>>): object {
  const ranking = toRanking(body)
  const tokens = inputTokens(headers)
  return tokens === undefined ? ranking : { ...ranking, usage: { total_tokens: tokens } }
}
