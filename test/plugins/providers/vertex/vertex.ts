import type { Provider, Secret, UpstreamRequest } from 'unified-model-gateway/plugin'
import { createProvider, type PluginConfig, testAttempt, testCall } from 'unified-model-gateway/plugin/testing'
import plugin from '../../../../plugins/providers/vertex/index.ts'

/** The provider as routes.yaml would configure it. */
export function vertex(config: PluginConfig = {}): Promise<Provider> {
  return createProvider(plugin, { project: 'acme-ai', ...config })
}

/** The upstream request for a body. */
export async function send(provider: Provider, body: Readonly<Record<string, unknown>>): Promise<UpstreamRequest> {
  const call = testCall(body)
  return (await provider.request(call, testAttempt(call))) as UpstreamRequest
}

/** The translated body. */
export function bodyOf({ body }: UpstreamRequest): Readonly<Record<string, unknown>> {
  return JSON.parse(String(body))
}

/** The authorization header, in the clear. */
export function authorizationOf({ headers }: UpstreamRequest): string {
  return (headers.authorization as Secret).reveal()
}
