import { type Provider, Secret, type Static } from 'unified-model-gateway/plugin'
import { testHost } from '../../../../core/testing/kit.ts'
import plugin from '../../../../plugins/providers/openai-compatible/index.ts'

type Config = Static<typeof plugin.schema>

/** The provider as core would create it. */
export function createProvider(config: Record<string, unknown>): Provider {
  const apiKey = typeof config.apiKey === 'string' ? { apiKey: new Secret(config.apiKey) } : {}
  return plugin.create({ ...config, ...apiKey } as Config, testHost()) as Provider
}
