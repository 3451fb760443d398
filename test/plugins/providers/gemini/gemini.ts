import { type Call, type Provider, Secret, type UpstreamRequest } from 'unified-model-gateway/plugin'
import { createProvider, type PluginConfig, runTranslator, testAttempt, testCall } from 'unified-model-gateway/plugin/testing'
import plugin from '../../../../plugins/providers/gemini/index.ts'
import type {
  Content,
  FunctionDeclaration,
  GenerateRequest,
  GenerationConfig,
  Part,
} from '../../../../plugins/providers/gemini/wire.ts'

/** The provider as routes.yaml would configure it. */
export function gemini(config: PluginConfig = {}): Promise<Provider> {
  return createProvider(plugin, { apiKey: new Secret('AIza-very-secret'), ...config })
}

/** The upstream request for a call. */
export async function send(call: Call, config?: PluginConfig): Promise<UpstreamRequest> {
  return (await (await gemini(config)).request(call, testAttempt(call))) as UpstreamRequest
}

/** The upstream request for a body. Default: a model that takes sampling parameters. */
export function upstream(body: Readonly<Record<string, unknown>>, config?: PluginConfig): Promise<UpstreamRequest> {
  return send(testCall({ model: 'google/gemini-3-flash-preview', ...body }), config)
}

/** The translated body. */
export async function translate(body: Readonly<Record<string, unknown>>, config?: PluginConfig): Promise<GenerateRequest> {
  return JSON.parse(String((await upstream(body, config)).body))
}

/** The declarations of the client's functions. */
export const functionsIn = (tools: GenerateRequest['tools'] = []): readonly FunctionDeclaration[] =>
  tools.flatMap((tool) => ('functionDeclarations' in tool ? tool.functionDeclarations : []))

/** The contents of a translated conversation. */
export async function contentsOf(...messages: readonly object[]): Promise<readonly Content[]> {
  return (await translate({ messages })).contents
}

/** The parts of a user's content. */
export async function partsOf(content: unknown): Promise<readonly Part[]> {
  const contents = await contentsOf({ role: 'user', content })
  return contents.flatMap(({ parts }) => parts)
}

/** The generationConfig of a body. */
export async function configOf(body: Readonly<Record<string, unknown>>, config?: PluginConfig): Promise<GenerationConfig> {
  return (await translate(body, config)).generationConfig ?? {}
}

/** The 400 for a body: the members that a client reads. */
export async function refusalOf(body: Readonly<Record<string, unknown>>, config?: PluginConfig) {
  const refusal = await upstream(body, config).catch((error: unknown) => error)
  const { status, param, message, row } = refusal as { status?: number; param?: string; message?: string; row?: string }
  return { status, row, param, message }
}

/** The client's completion of a whole reply. */
export async function complete(whole: object, asked?: Readonly<Record<string, unknown>>) {
  return runTranslator(await gemini(), { whole }, asked)
}

/** The client's chunks of a stream. */
export async function listen(stream: string | readonly string[], asked?: Readonly<Record<string, unknown>>) {
  return runTranslator(await gemini(), { stream }, asked)
}
