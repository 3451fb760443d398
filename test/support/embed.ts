import type { Provider, UpstreamRequest } from 'unified-model-gateway/plugin'
import { testAttempt, testCall } from 'unified-model-gateway/plugin/testing'

/** The upstream request for an embeddings call. `model`: the upstream's name. */
export async function embed(
  provider: Provider,
  model: string,
  body: Readonly<Record<string, unknown>>,
): Promise<UpstreamRequest> {
  const call = testCall({ ...body, model: `ns/${model}` })
  return (await provider.endpoints!.embeddings!.request(call, testAttempt(call))) as UpstreamRequest
}

/** The translated body. */
export async function embedded(...asked: Parameters<typeof embed>): Promise<unknown> {
  return JSON.parse(String((await embed(...asked)).body))
}

/** The error of a refused call. */
export async function embedRefusal(...asked: Parameters<typeof embed>) {
  const refusal = await embed(...asked).catch((error: unknown) => error)
  const { status, row, param, message } = refusal as { status?: number; row?: string; param?: string; message?: string }
  return { status, row, param, message }
}

/** The provider's translation of an upstream's reply. */
export function embeddingsIn(provider: Provider, body: unknown, headers: Readonly<Record<string, string>> = {}): unknown {
  return provider.endpoints!.embeddings!.reply!(body, headers)
}
