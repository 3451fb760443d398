import type { Config } from './config.ts'

/** The ids of the upstream and curated models that routes.yaml names, without globs. */
export function namedModels({
  namespaces,
  curated,
  aliases,
}: Pick<Config, 'namespaces' | 'curated' | 'aliases'>): ReadonlySet<string> {
  const allowed = [...namespaces.values()].flatMap(({ name, models = [] }) => models.map((model) => `${name}/${model}`))
  const routes = [...curated.values()].flatMap((namespace) => [...namespace.routes.values()])
  const targets = routes.flatMap((route) => [...route.targets, ...route.fallbacks].map(({ model }) => model))
  return new Set([...allowed, ...targets, ...aliases.values()].filter((id) => !id.includes('*')))
}
