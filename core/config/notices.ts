import { remedy } from './check/unset.ts'
import type { Config, RouteConfig } from './config.ts'
import type { Reference } from './text/reference.ts'

/** What is not wrong, and yet may not be meant. */
export function notices(config: Config, dormant: ReadonlyMap<string, readonly Reference[]>): readonly string[] {
  return [
    ...ofChain(config),
    ...[...dormant].map(([name, missing]) => `the namespace "${name}" is left out; to use it, ${remedy(missing)}`),
    ...[...config.curated.values()].flatMap(({ routes }) => [...routes.values()]).flatMap((route) => ofRoute(route, config)),
    ...config.keys
      .filter(({ expires = Number.POSITIVE_INFINITY }) => expires <= Date.now())
      .map(({ name }) => `the key "${name}" has expired; remove it, or let it end later`),
  ]
}

function ofChain({ chain }: Config): readonly string[] {
  const names = chain.map(({ plugin }) => plugin.name)
  if (!names.includes('auth'))
    return ['the chain has no "auth": every call is refused with 401 that none of its plugins identifies']
  const early = names.slice(0, names.indexOf('auth')).includes('rate-tagging')
  return early ? ['"rate-tagging" stands above "auth": it limits nobody, for nobody is identified yet; put it below'] : []
}

function ofRoute({ id, targets, fallbacks, retry }: RouteConfig, config: Config): readonly string[] {
  const members = [...targets, ...fallbacks]
  const asleep = members.filter(({ model }) => isAsleep(model, config))
  const single = retry.attempts === 1 && members.length > 1
  return [
    ...(single ? [`"${id}" makes one try: its other models serve only while those before them are set aside`] : []),
    ...(asleep.length === members.length
      ? [`"${id}" is left out: so are all the namespaces that it leads to`]
      : asleep.map(({ at }) => `"${id}" does without the model in line ${at.line}, whose namespace is left out`)),
  ]
}

/** Whether all that a model stands for is left out. */
function isAsleep(model: string, config: Config): boolean {
  const namespace = model.slice(0, model.indexOf('/'))
  const route = config.curated.get(namespace)?.routes.get(model.slice(namespace.length + 1))
  if (route === undefined) return config.namespaces.get(namespace)?.dormant !== undefined
  return [...route.targets, ...route.fallbacks].every((member) => isAsleep(member.model, config))
}
