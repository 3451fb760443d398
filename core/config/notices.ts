import { howToSet } from './checks/unset-references.ts'
import type { Config, CuratedNamespace, RouteConfig } from './config.ts'
import type { Reference } from './file/interpolate.ts'

/** What the author of a valid file should know: it may not be intended. */
export function noticesOf(
  config: Omit<Config, 'notices'>,
  dormant: ReadonlyMap<string, readonly Reference[]>,
): readonly string[] {
  const routes = [...config.curated.values()].flatMap((namespace) => [...namespace.routes.values()])
  return [
    ...noticesOfChain(config),
    ...[...dormant].map(([name, missing]) => `the namespace "${name}" is left out; to use it, ${howToSet(missing)}`),
    ...routes.flatMap((route) => noticesOfRoute(route, config)),
    ...[...config.curated.values()].flatMap(noticesOfNames),
    ...config.keys
      .filter(({ expires = Number.POSITIVE_INFINITY }) => expires <= Date.now())
      .map(({ name }) => `the key "${name}" has expired; remove it, or change its "expires"`),
  ]
}

function noticesOfChain({ chain }: Pick<Config, 'chain'>): readonly string[] {
  const names = chain.map(({ plugin }) => plugin.name)
  if (!names.includes('auth'))
    return ['the chain has no "auth": every call is refused with 401, unless another plugin identifies its caller']
  const early = names.slice(0, names.indexOf('auth')).includes('rate-tagging')
  return early
    ? ['"rate-tagging" is above "auth", where no caller is identified yet, so it limits no call; move it below "auth"']
    : []
}

function noticesOfRoute({ id, targets, fallbacks, retry }: RouteConfig, config: Routing): readonly string[] {
  const members = [...targets, ...fallbacks]
  const dormant = members.filter(({ model }) => isDormant(model, config))
  const isSingle = retry.attempts === 1 && members.length > 1
  return [
    ...(isSingle ? [`"${id}" makes one attempt: a model serves calls only while the models before it are unavailable`] : []),
    ...(dormant.length === members.length
      ? [`"${id}" is left out, because the namespaces of all its models are left out`]
      : dormant.map(({ at }) => `"${id}" skips the model on line ${at.line}, because its namespace is left out`)),
  ]
}

/** Curated models whose names begin with their namespace, as their ids do: clients would have to name it twice. */
const noticesOfNames = ({ name, routes }: CuratedNamespace): readonly string[] =>
  [...routes.keys()]
    .filter((model) => model.startsWith(`${name}/`))
    .map(
      (model) =>
        `clients call the curated model ${model} of "${name}" as ${name}/${model}; to be called ${model}, write ${withoutFirst(model)}`,
    )

const withoutFirst = (name: string): string => name.slice(name.indexOf('/') + 1)

type Routing = Pick<Config, 'curated' | 'namespaces'>

/** Whether the namespaces of all upstream models behind a model are left out. */
function isDormant(model: string, config: Routing): boolean {
  const namespace = model.slice(0, model.indexOf('/'))
  const route = config.curated.get(namespace)?.routes.get(model.slice(namespace.length + 1))
  if (route === undefined) return config.namespaces.get(namespace)?.dormant !== undefined
  return [...route.targets, ...route.fallbacks].every((member) => isDormant(member.model, config))
}
