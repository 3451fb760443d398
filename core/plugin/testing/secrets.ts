import { Secret } from '../api.ts'

/** A plugin's configuration as a test writes it: what `routes.yaml` would say, with a `Secret` where a credential stands. */
export type PluginConfig = Readonly<Record<string, unknown>>

/** The same configuration with each `Secret` in it replaced. */
export function replaceSecrets(config: unknown, replace: (secret: Secret) => unknown): unknown {
  if (config instanceof Secret) return replace(config)
  if (Array.isArray(config)) return config.map((entry) => replaceSecrets(entry, replace))
  if (typeof config !== 'object' || config === null) return config
  return Object.fromEntries(Object.entries(config).map(([key, value]) => [key, replaceSecrets(value, replace)]))
}
