import { check } from '../../config/check/check.ts'
import type { Host, Provider, ProviderPlugin } from '../api.ts'
import { type PluginConfig, replaceSecrets } from './secrets.ts'
import { testHost } from './test-host.ts'

/**
 * Makes a provider as the gateway does: its configuration is held against its schema, and defaults are filled in. Throws an Error
 * that says what does not fit, or what `create` throws.
 */
export async function createProvider(
  plugin: ProviderPlugin,
  config: PluginConfig = {},
  host: Host = testHost(),
): Promise<Provider> {
  const own = replaceSecrets(config, (secret) => secret.reveal())
  const { errors, secrets } = check(plugin.schema, own)
  const [error] = errors
  if (error !== undefined) throw new Error(`the config of ${plugin.name}${error.instancePath} ${error.message}`)
  for (const secret of secrets) secret.seal()
  return plugin.create(own as never, host)
}
