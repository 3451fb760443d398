import {
  type Call,
  defineCallFunction,
  dropped,
  inputTexts,
  mapped,
  type ParameterSupport,
  type TranslatedEmbeddings,
  toEmbeddings,
} from 'unified-model-gateway/plugin'

/** The support of each field of an embeddings request. docs/endpoints.md is compared with it by a test. */
export const embeddingParameters: Readonly<Record<string, ParameterSupport>> = {
  model: mapped('the address, requests[].model'),
  input: mapped('requests[].content'),
  encoding_format: mapped('the reply, which the gateway writes'),
  dimensions: mapped('requests[].outputDimensionality'),
  user: dropped,
}

/** The body of `POST /models/{model}:batchEmbedContents` (ai.google.dev/api/embeddings; @google/genai 3.1). */
export interface BatchEmbedRequest {
  readonly requests: readonly {
    readonly model: string
    readonly content: { readonly parts: readonly { readonly text: string }[] }
    readonly outputDimensionality?: number
  }[]
}

/** Its reply, with unchecked members. */
interface BatchEmbedReply {
  readonly embeddings?: unknown
  readonly usageMetadata?: { readonly promptTokenCount?: unknown } | null
}

/** The body of `:batchEmbedContents`. */
export const batchEmbedBody = defineCallFunction(import.meta.url, 'batchEmbedBody', (call, model: string) =>
  Buffer.from(JSON.stringify(toBatchEmbedRequest(call, model))),
)

/** Translates an embeddings request. `model`: without `models/` before it. Throws `GatewayError` (400) for lists of tokens. */
export function toBatchEmbedRequest(call: Call, model: string): BatchEmbedRequest {
  const outputDimensionality = call.body.dimensions as number | null | undefined
  return {
    requests: inputTexts(call).map((text) => ({
      model: `models/${model}`,
      content: { parts: [{ text }] },
      ...(outputDimensionality != null && { outputDimensionality }),
    })),
  }
}

/** Reads the embeddings of a reply. Throws an Error if it has none. */
export function toBatchEmbeddings(body: unknown): TranslatedEmbeddings {
  const { embeddings, usageMetadata } = body as BatchEmbedReply
  if (!Array.isArray(embeddings)) throw new Error('The reply is not one of batchEmbedContents.')
  return toEmbeddings(
    embeddings.map((embedding) => embedding?.values),
    usageMetadata?.promptTokenCount,
  )
}
