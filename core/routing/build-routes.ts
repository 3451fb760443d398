import type { CuratedNamespace, RouteConfig, TargetConfig, Timeouts } from '../config/config.ts'
import type { Branch, Candidate, Choice, Route, Target } from './route.ts'

/** Finds the target that a model id of an upstream's namespace means; undefined where the namespace is dormant. */
export type FindTarget = (id: string) => (Pick<Candidate, 'timeouts'> & { readonly target: Target }) | undefined

/** What the routes around a route say of all that it leads to. */
type Settings = Pick<RouteConfig, 'timeouts' | 'defaults' | 'strict'>

/**
 * The routes of all curated models, by id; those that lead to dormant namespaces only are left out. Of settings the outer route's
 * count before the inner one's, and either's before the namespace's.
 */
export function buildRoutes(namespaces: Iterable<CuratedNamespace>, find: FindTarget): ReadonlyMap<string, Route> {
  const configs = new Map([...namespaces].flatMap(({ routes }) => [...routes.values()].map((route) => [route.id, route])))
  const routes = [...configs.values()].map((config): readonly [string, Route | undefined] => {
    const choice = toChoice(config, { timeouts: {}, defaults: {}, strict: false }, { configs, find })
    return [config.id, choice && toRoute(config, choice)]
  })
  return new Map(routes.filter((entry): entry is [string, Route] => entry[1] !== undefined))
}

function toRoute({ id, retry, timeouts }: RouteConfig, choice: Choice): Route {
  return { id, leads: choice, retry, total: timeouts.total ?? Math.max(...totals(choice)) }
}

const totals = ({ targets, fallbacks }: Choice): readonly number[] =>
  [...targets, ...fallbacks].flatMap((branch) =>
    'candidate' in branch ? branch.candidate.timeouts.total : totals(branch.choice),
  )

interface Known {
  readonly configs: ReadonlyMap<string, RouteConfig>
  readonly find: FindTarget
}

/** Undefined where none of its targets and fallbacks can be reached. */
function toChoice(config: RouteConfig, outer: Settings, known: Known): Choice | undefined {
  const settings: Settings = {
    timeouts: { ...config.timeouts, ...outer.timeouts },
    defaults: { ...config.defaults, ...outer.defaults },
    strict: config.strict || outer.strict,
  }
  const toBranches = (targets: readonly TargetConfig[]) =>
    targets.map((target) => toBranch(target, settings, known)).filter((branch) => branch !== undefined)
  const targets = toBranches(config.targets)
  const fallbacks = toBranches(config.fallbacks)
  if (targets.length + fallbacks.length === 0) return undefined
  return { id: config.id, by: config.choose, sticky: config.sticky, targets, fallbacks }
}

function toBranch({ model, weight }: TargetConfig, settings: Settings, known: Known): Branch | undefined {
  const curated = known.configs.get(model)
  if (curated !== undefined) {
    const choice = toChoice(curated, settings, known)
    return choice && { weight, choice }
  }
  const found = known.find(model)
  return found && { weight, candidate: toCandidate(found.target, found.timeouts, settings) }
}

function toCandidate(target: Target, timeouts: Timeouts, settings: Settings): Candidate {
  const { defaults, strict } = settings
  return {
    target,
    timeouts: { ...timeouts, ...settings.timeouts },
    defaults: Object.keys(defaults).length === 0 ? undefined : defaults,
    strict,
  }
}
