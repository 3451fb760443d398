import type { Provider, UpstreamRequest } from 'unified-model-gateway/plugin'
import { testAttempt, testCall } from 'unified-model-gateway/plugin/testing'

/** What goes upstream for a call to the embeddings endpoint. `model`: as the upstream has it. */
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

/** The 400 that a call is refused with: what of it a client reads. */
export async function embedRefusal(...asked: Parameters<typeof embed>) {
  const refusal = await embed(...asked).catch((error: unknown) => error)
  const { status, row, param, message } = refusal as { status?: number; row?: string; param?: string; message?: string }
  return { status, row, param, message }
}

/** What a provider makes of an upstream's reply. Throws what it throws. */
export function embeddingsIn(provider: Provider, body: unknown, headers: Readonly<Record<string, string>> = {}): unknown {
  return provider.endpoints!.embeddings!.reply!(body, headers)
}
