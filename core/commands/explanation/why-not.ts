import type { Config } from '../../config/config.ts'
import { matchesGlob } from '../../glob.ts'
import type { Principal } from '../../plugin/api.ts'
import type { RoutingTable } from '../../routing/table.ts'
import { didYouMean } from '../../suggest.ts'
import { whyLeftOut } from './explain-model.ts'

/** Why calls of a principal that name this model are refused: clients are told only that there is no such model. */
export function whyNot(name: string, principal: Principal, { config, table }: { config: Config; table: RoutingTable }): string {
  const model = table.resolve(name)
  const curated = [...config.curated.values()].flatMap(({ routes }) => [...routes.values()].map(({ id }) => id))
  if (model === undefined) return unknown(name, config, curated)
  if (config.curated.has(model.namespace) && !curated.includes(model.id))
    return `"${model.namespace}" has no curated model "${model.model}"${didYouMean(model.id, curated)}`
  const allowed = config.namespaces.get(model.namespace)?.models
  if (allowed !== undefined && !allowed.some((glob) => matchesGlob(glob, model.model)))
    return `"${model.namespace}" does not allow the model "${model.model}"${didYouMean(model.model, allowed)}`
  if (!table.mayCall(model, principal)) return `the key may not call ${model.id}: ${allows(principal)}`
  return `${model.id} is left out: ${whyLeftOut(model.id, config)}`
}

function unknown(name: string, { aliases, namespaces, curated }: Config, ids: readonly string[]): string {
  if (name.includes('/')) {
    const [namespace = ''] = name.split('/', 1)
    return `there is no namespace "${namespace}"${didYouMean(namespace, [...namespaces.keys(), ...curated.keys()])}`
  }
  const meant = ids.find((id) => id.endsWith(`/${name}`))
  return `there is no alias "${name}"${meant === undefined ? didYouMean(name, [...aliases.keys()]) : didYouMean(meant, [meant])}`
}

function allows({ models }: Principal): string {
  return models.map((globs) => `only ${globs.join(', ') || 'nothing'}`).join(', and of these ')
}
