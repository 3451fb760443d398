import type { Provider, UpstreamRequest } from 'unified-model-gateway/plugin'
import { createProvider, type PluginConfig, runTranslator, testAttempt, testCall } from 'unified-model-gateway/plugin/testing'
import plugin from '../../../../plugins/providers/ollama/index.ts'
import type { ChatBody, Message } from '../../../../plugins/providers/ollama/wire.ts'

/** The provider as routes.yaml would configure it. */
export function ollama(config: PluginConfig = {}): Promise<Provider> {
  return createProvider(plugin, config)
}

/** The upstream request for a body. */
export async function upstream(body: Readonly<Record<string, unknown>>, config?: PluginConfig): Promise<UpstreamRequest> {
  const call = testCall({ model: 'local/gpt-oss:20b', ...body })
  return (await (await ollama(config)).request(call, testAttempt(call))) as UpstreamRequest
}

/** The translated body. */
export async function translate(body: Readonly<Record<string, unknown>>, config?: PluginConfig): Promise<ChatBody> {
  return JSON.parse(String((await upstream(body, config)).body))
}

/** The translated messages. */
export async function messagesOf(...messages: readonly object[]): Promise<readonly Message[]> {
  return (await translate({ messages })).messages
}

/** The 400 for a body: the members that a client reads. */
export async function refusalOf(body: Readonly<Record<string, unknown>>) {
  const refusal = await upstream(body).catch((error: unknown) => error)
  const { status, code, param, message } = refusal as { status?: number; code?: string; param?: string; message?: string }
  return { status, code, param, message }
}

/** The client's completion of a whole reply. */
export async function complete(whole: object, asked?: Readonly<Record<string, unknown>>) {
  return runTranslator(await ollama(), { whole }, asked)
}

/** The client's chunks of a stream. */
export async function listen(stream: string | readonly string[], asked?: Readonly<Record<string, unknown>>) {
  return runTranslator(await ollama(), { stream }, asked)
}
