import type { Config, NamespaceConfig } from '../../config/config.ts'
import { namedModels } from '../../config/named-models.ts'
import type { PriceList } from './price-list.ts'

/** Models that a notice lists. */
const MAX_LISTED = 3

/** What the author of routes.yaml should know: lists that are not used, globs that may match nothing, models whose cost will be unknown. */
export function noticesOfPrices(config: Config, prices: PriceList): readonly string[] {
  return [
    ...prices.notices,
    ...noticesOfGlobs(config, prices),
    ...noticesOfNames(config, prices),
    ...noticesOfCosts(config, prices),
  ]
}

/**
 * What matters when a gateway starts: lists that are not used, and, if there are budgets, the models whose cost will be unknown. `areStored`: the
 * database has budgets.
 */
export function noticesOfStart(config: Config, prices: PriceList, areStored: boolean): readonly string[] {
  const hasBudgets = areStored || [...config.keys, ...config.accounts.values()].some(({ budgets }) => budgets.length > 0)
  return [...prices.notices, ...(hasBudgets ? noticesOfCosts(config, prices) : [])]
}

/** What follows for callers with a budget. */
const CONSEQUENCES: Readonly<Record<string, string>> = {
  refuse: ', so that callers with a budget are refused; ',
  estimate: '; callers with a budget are charged by the dearest known model of the vendor, and refused if it has none; ',
  serve: ', and no budget is charged for them; ',
}

/** Globs of models that match none of those whose prices are known: they may be misspelt. */
function noticesOfGlobs({ namespaces, text }: Config, prices: PriceList): readonly string[] {
  return [...namespaces.values()].flatMap((namespace) => {
    const globs = namespace.dormant === undefined ? (namespace.models ?? []) : []
    return globs
      .filter((glob) => glob.includes('*') && text.includes(glob) && prices.matchesGlob(namespace, glob) === false)
      .map((glob) => `"${namespace.name}/${glob}" matches none of the models whose list prices are known; check its spelling`)
  })
}

/**
 * Names of models that begin with their namespace, as their ids do: clients would have to name it twice. Some vendors have such names, as
 * OpenRouter has openrouter/auto: not where the list prices have the model.
 */
function noticesOfNames({ namespaces, text }: Config, prices: PriceList): readonly string[] {
  return [...namespaces.values()].flatMap((namespace) => {
    const { name, models = [], dormant } = namespace
    return models
      .filter((model) => dormant === undefined && model.startsWith(`${name}/`) && text.includes(model))
      .filter((model) => prices.matchesGlob(namespace, model) !== true)
      .map((model) => {
        const meant = model.slice(name.length + 1)
        return `clients call the model ${model} of "${name}" as ${name}/${model}; write ${meant}, unless the upstream calls it ${model}`
      })
  })
}

function noticesOfCosts(config: Config, prices: PriceList): readonly string[] {
  const named = Map.groupBy(namedModels(config), (id) => id.slice(0, id.indexOf('/')))
  return [...config.namespaces.values()].flatMap((namespace) => {
    if (namespace.dormant !== undefined) return []
    const { name } = namespace
    const models = (named.get(name) ?? []).map((id) => id.slice(name.length + 1))
    const unpriced = models.filter((model) => !hasPrice(model, namespace, prices))
    const { unpriced: rule } = config.prices
    const follows = typeof rule === 'string' ? CONSEQUENCES[rule] : '; budgets are charged by the price for unpriced models; '
    const advice = `${follows}add prices, or free: true, to "prices"`
    if (unpriced.length > 0) return [`the cost of calls to ${listed(unpriced, config, name)} is unknown${advice}`]
    if (models.length > 0 || prices.mayPrice(namespace)) return []
    return [`the cost of calls to the namespace "${name}" is unknown${advice}`]
  })
}

const hasPrice = (model: string, { name, plugin }: NamespaceConfig, prices: PriceList): boolean =>
  prices.priceOf({ namespace: name, model, provider: plugin.name }) !== undefined

/** A name that is not in the file's text is the value of a reference, which is a secret. */
function listed(models: readonly string[], { text }: Config, namespace: string): string {
  const shown = models.filter((model) => text.includes(model)).slice(0, MAX_LISTED)
  const others = models.length - shown.length
  const ids = shown.map((model) => `${namespace}/${model}`)
  if (others === 0) return ids.join(', ')
  return ids.length === 0 ? `models of "${namespace}"` : `${ids.join(', ')} and ${others} more`
}
