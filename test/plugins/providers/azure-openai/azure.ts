import { type Provider, Secret, type UpstreamRequest } from 'unified-model-gateway/plugin'
import { createProvider, type PluginConfig, testAttempt, testCall } from 'unified-model-gateway/plugin/testing'
import plugin from '../../../../plugins/providers/azure-openai/index.ts'

/** The provider as routes.yaml would configure it. */
export function azure(config: PluginConfig = {}): Promise<Provider> {
  return createProvider(plugin, { baseUrl: 'https://acme.openai.azure.com', apiKey: new Secret('azure-very-secret'), ...config })
}

/** The upstream request for a body. */
export async function upstream(body: Readonly<Record<string, unknown>>, config?: PluginConfig): Promise<UpstreamRequest> {
  const call = testCall({ model: 'azure/gpt-5-in-sweden', ...body })
  return (await (await azure(config)).request(call, testAttempt(call))) as UpstreamRequest
}
