import { BoundedMap } from '../async/bounded-map.ts'
import type { CuratedNamespace, RouteConfig, TargetConfig, Timeouts } from '../config/config.ts'
import type { RetryCause } from '../config/schema/retry-causes.ts'
import type { Sticky } from '../config/schema/sticky.ts'
import { modelNotFound } from '../protocol/call.ts'
import type { Keeper } from '../protocol/kept-ids.ts'
import type { ModelId, Principal, Provider } from '../sdk/api.ts'
import { GlobList } from '../text/glob.ts'
import { nearest } from '../text/suggestions.ts'
import type { UpstreamClient } from '../upstream/client.ts'
import type { ModelDiscovery } from './discovery.ts'
import type { Handlers } from './handler.ts'
import { type Branch, type Candidate, type Choice, candidatesOf, type Route, type Target } from './route.ts'
import type { UpstreamState } from './upstream-state.ts'

/** A configured provider, its plugin's name, and the state of its upstream. */
export interface NamedProvider {
  readonly name: string
  readonly provider: Provider
  readonly handlers: Handlers
  readonly state: UpstreamState
  /** Its own, if it has settings of TLS. */
  readonly client?: UpstreamClient | undefined
  /** By credential, as `Target` has them. */
  readonly secrets?: Target['secrets']
  readonly fetches: Target['fetches']
}

/** One namespace and its upstream. */
export interface Namespace {
  readonly name: string
  /** Absent if the namespace is dormant: its credentials are not set. */
  readonly upstream: NamedProvider | undefined
  /** Names and globs; absent: any model passes through. */
  readonly models: readonly string[] | undefined
  readonly timeouts: Timeouts
  readonly testKeys: 'sandbox' | 'upstream'
  /** As in routes.yaml. */
  readonly hostedTools?: readonly string[] | undefined
  readonly keptObjects: 'refuse' | 'allow'
  readonly keepReasoning: boolean
  readonly sticky: Sticky
  readonly catalogue: ModelDiscovery
}

/** The parts of a routing table. */
export interface TableParts {
  readonly namespaces: ReadonlyMap<string, Namespace>
  readonly curated: ReadonlyMap<string, CuratedNamespace>
  readonly aliases: ReadonlyMap<string, string>
  /** Serves the calls of test keys. */
  readonly sandbox: NamedProvider
  /** The models of a namespace that the list prices have. Absent: none. */
  pricedModels?(namespace: string): ReadonlySet<string>
}

/** Test keys have routes of their own, which reach no upstream: their calls cost nothing. */
type Kind = Principal['kind']

const NO_MODELS: ReadonlySet<string> = new Set()

/** The most cached names that routes.yaml does not contain, per kind of key. */
const MOST_PASSED_THROUGH = 1000

/** The most cached routes per principal. */
const MOST_REMEMBERED = 100

/** The most names that a wrong one is compared with. */
const MOST_COMPARED = 1000

/** A principal, as the table reads it. */
interface Caller {
  /** The models of its account and of its key. */
  readonly allowed: readonly GlobList[]
  /** The routes of its calls, by model id. */
  readonly routes: BoundedMap<string, Route>
}

/** Whether there is a route for a model that a principal may call. */
type IsServed = (model: ModelId) => boolean

/** One attempt. A second one is made only if the first met a stale connection. */
const ONE_TRY = { attempts: 1, on: new Set<RetryCause>() } as const

/** Maps the model of a request to the route that serves it. */
export class RoutingTable {
  /** Namespaces with an upstream. */
  readonly namespaces: ReadonlyMap<string, Namespace>
  /** Namespaces without one. */
  readonly curated: ReadonlyMap<string, CuratedNamespace>
  /** The largest body that a provider accepts from keys of this kind, in bytes. */
  readonly maxBody: Readonly<Record<Kind, number>>
  readonly #aliases: ReadonlyMap<string, string>
  /** The allowed models of namespaces that do not allow all. */
  readonly #allowed = new Map<string, GlobList>()
  readonly #sandbox: NamedProvider
  readonly #pricedModels: NonNullable<TableParts['pricedModels']>
  readonly #routes: Readonly<Record<Kind, ReadonlyMap<string, Route>>>
  readonly #plain: Readonly<Record<Kind, BoundedMap<string, Route>>> = {
    live: new BoundedMap(MOST_PASSED_THROUGH),
    test: new BoundedMap(MOST_PASSED_THROUGH),
  }

  /** Aliases, curated models, and the named models of namespaces. */
  readonly #named: readonly ModelId[]
  readonly #callers = new WeakMap<Principal, Caller>()

  constructor({ namespaces, curated, aliases, sandbox, pricedModels = () => NO_MODELS }: TableParts) {
    this.namespaces = namespaces
    this.curated = curated
    this.#aliases = aliases
    for (const { name, models } of namespaces.values()) if (models !== undefined) this.#allowed.set(name, new GlobList(models))
    this.#sandbox = sandbox
    this.#pricedModels = pricedModels
    this.#named = [...namesOf({ namespaces, curated, aliases })].flatMap((name) => this.resolve(name) ?? [])
    const routesOf = (kind: Kind) => buildRoutes(curated.values(), (id) => this.#namedTarget(split(id), kind))
    this.#routes = { live: routesOf('live'), test: routesOf('test') }
    this.maxBody = { live: this.#maxBodyOf('live'), test: this.#maxBodyOf('test') }
  }

  /** The model id of a name; undefined if it is neither an alias nor `<namespace>/<model>` of a known namespace. */
  resolve(name: string): ModelId | undefined {
    const target = this.#aliases.get(name)
    const id = target ?? name
    const slash = id.indexOf('/')
    if (slash < 1 || slash === id.length - 1 || id.length > MAX_ID || CONTROL.test(id)) return undefined
    const model = target === undefined ? split(id) : { ...split(id), alias: name }
    return this.namespaces.has(model.namespace) || this.curated.has(model.namespace) ? model : undefined
  }

  /** The model id of a name. Throws `model_not_found` where `resolve` finds none. `principal`: undefined while it is unknown. */
  find(name: string, principal: Principal | undefined): ModelId {
    const model = this.resolve(name)
    if (model === undefined) throw modelNotFound(name, principal && this.nearest(name, principal))
    return model
  }

  /** What only gateways with the same credential know, as `Target.secrets` has it; undefined if there is no such namespace or credential. */
  secretOf({ namespace, credential }: Pick<Keeper, 'namespace' | 'credential'>, kind: Kind): string | undefined {
    if (namespace === '') return ''
    const known = this.namespaces.get(namespace)
    const upstream = known && this.#upstreamOf(known, kind)
    return upstream && (upstream.secrets === undefined ? '' : upstream.secrets.get(credential))
  }

  /** The route of a call. Throws `model_not_found` both for an unknown model and for one that the principal may not call. */
  route(model: ModelId, principal: Principal): Route {
    const caller = this.#callerOf(principal)
    const known = caller.routes.get(model.id)
    if (known !== undefined) return known
    const { kind } = principal
    const route = this.#allows(caller, model) ? (this.#routes[kind].get(model.id) ?? this.#passing(model, kind)) : undefined
    if (route === undefined) throw modelNotFound(model.id, this.nearest(model.alias ?? model.id, principal))
    caller.routes.set(model.id, route)
    return route
  }

  /** The name nearest to a wrong one, of the models that a principal may call: it tells nothing that GET /v1/models would not. */
  nearest(name: string, principal: Principal): string | undefined {
    const isServed = this.served(principal)
    const callable = this.#namedFirst(name.slice(0, name.indexOf('/') + 1))
      .filter(isServed)
      .take(MOST_COMPARED)
      .map((model) => model.alias ?? model.id)
      .toArray()
    const same = callable.find((each) => each.endsWith(`/${name}`)) ?? this.#ofUpstreams(name, isServed)
    if (same !== undefined) return same
    const listed = this.#listedLike(name, isServed)
    const near = nearest(name, [...callable, ...listed.keys()])
    return near === undefined ? this.#inNearestNamespace(name, isServed) : (listed.get(near) ?? near)
  }

  /** The models that routes.yaml names, those whose names begin with `prefix` first. */
  *#namedFirst(prefix: string): Generator<ModelId> {
    const isFirst = ({ id, alias = id }: ModelId) => alias.startsWith(prefix)
    for (const model of this.#named) if (isFirst(model)) yield model
    for (const model of this.#named) if (!isFirst(model)) yield model
  }

  /** The model of a name without a namespace that an upstream has, though routes.yaml does not name it. */
  #ofUpstreams(name: string, isServed: IsServed): string | undefined {
    if (this.resolve(name) !== undefined) return undefined
    const known = [...this.namespaces.values()].filter((namespace) => this.#listsOf(namespace).some((list) => list.has(name)))
    return known.map((namespace) => `${namespace.name}/${name}`).find((id) => isServed(split(id)))
  }

  /**
   * The ids of models that upstreams have, though routes.yaml does not name them, by the form that the name has: by their ids in its
   * namespace, or by their names in any if it has none.
   */
  #listedLike(name: string, isServed: IsServed): ReadonlyMap<string, string> {
    const asked = this.resolve(name)
    const found = new Map<string, string>()
    for (const namespace of this.namespaces.values()) {
      if (asked !== undefined && asked.namespace !== namespace.name) continue
      for (const list of this.#listsOf(namespace)) {
        for (const model of list) {
          if (found.size >= MOST_COMPARED) return found
          const id = `${namespace.name}/${model}`
          if (id !== name && isServed(split(id))) found.set(asked ? id : model, id)
        }
      }
    }
    return found
  }

  /** The names of models that the upstream of a namespace has listed, and that have list prices there. */
  #listsOf({ name, catalogue }: Namespace): readonly ReadonlySet<string>[] {
    return [catalogue.ids, this.#pricedModels(name)]
  }

  /** The same model of the namespace that was meant, whose models routes.yaml does not name. */
  #inNearestNamespace(name: string, isServed: IsServed): string | undefined {
    const [namespace, ...model] = name.split('/')
    if (model.length === 0) return undefined
    const ids = [...this.namespaces.keys()].map((each) => [each, `${each}/${model.join('/')}`] as const)
    const callable = ids.filter(([, id]) => isServed(split(id)))
    const meant = nearest(namespace!, callable.map(([each]) => each).slice(0, MOST_COMPARED))
    return meant === undefined || meant === namespace ? undefined : `${meant}/${model.join('/')}`
  }

  /** The models of upstreams that may serve a curated model, each once. */
  targetsOf({ id }: ModelId): readonly ModelId[] {
    const route = this.#routes.live.get(id)
    const ids = new Set(route === undefined ? [] : candidatesOf(route.leads).map(({ target }) => target.id))
    return [...ids].map(split)
  }

  /**
   * Tells of each model whether there is a route for it that the principal may call. Nothing is created or cached for a model: a list of
   * thousands replaces no route and no health of models that are called.
   */
  served(principal: Principal): IsServed {
    const caller = this.#callerOf(principal)
    const { kind } = principal
    return (model) =>
      this.#allows(caller, model) && (this.#routes[kind].has(model.id) || this.#upstreamFor(model, kind) !== undefined)
  }

  /** Whether the namespace, the account and the key all allow a model. */
  mayCall(model: ModelId, principal: Principal): boolean {
    return this.#allows(this.#callerOf(principal), model)
  }

  /** Whether the namespace, the account and the key all allow the model of this id; false if it is of an unknown namespace. */
  mayCallNamed(id: string, principal: Principal): boolean {
    const model = this.resolve(id)
    return model !== undefined && this.mayCall(model, principal)
  }

  #allows({ allowed }: Caller, { id, namespace, model }: ModelId): boolean {
    const isAllowed = this.#allowed.get(namespace)?.matches(model) ?? true
    return isAllowed && allowed.every((list) => list.matches(id))
  }

  /** The lists of globs of a principal, and its routes: made once for a frozen principal, which cannot change. */
  #callerOf(principal: Principal): Caller {
    const known = this.#callers.get(principal)
    if (known !== undefined) return known
    const allowed = principal.models.map((globs) => new GlobList(globs))
    const caller = { allowed, routes: new BoundedMap<string, Route>(MOST_REMEMBERED) }
    if (Object.isFrozen(principal)) this.#callers.set(principal, caller)
    return caller
  }

  /** The route of a model of an upstream's namespace; undefined if the namespace is unknown or dormant. */
  #passing(model: ModelId, kind: Kind): Route | undefined {
    const known = this.#plain[kind].get(model.id)
    if (known !== undefined) return known
    const found = this.#target(model, kind)
    if (found === undefined) return undefined
    const leads = { ...found, defaults: undefined, strict: false }
    const route = { id: model.id, leads, retry: ONE_TRY, total: found.timeouts.total }
    this.#plain[kind].set(model.id, route)
    return route
  }

  /** A target that a curated model names: it has its own health. */
  #namedTarget(model: ModelId, kind: Kind) {
    const namespace = this.namespaces.get(model.namespace)
    if (namespace !== undefined) this.#upstreamOf(namespace, kind)?.state.named(model.model)
    const found = this.#target(model, kind)
    return found && { ...found, target: { ...found.target, passedThrough: false } }
  }

  #target(model: ModelId, kind: Kind): { readonly target: Target; readonly timeouts: Timeouts } | undefined {
    const namespace = this.namespaces.get(model.namespace)
    const upstream = this.#upstreamFor(model, kind)
    if (upstream === undefined) return undefined
    const { name, provider, handlers, state, client, secrets, fetches } = upstream
    const isNamed = this.#allowed.get(model.namespace)?.names(model.model) ?? false
    const target: Target = {
      id: model.id,
      served: { namespace: model.namespace, model: model.model, provider: name },
      provider,
      handlers,
      upstream: state,
      client,
      secrets,
      fetches,
      health: isNamed ? state.named(model.model) : state.of(model.model),
      keptObjects: namespace!.keptObjects === 'allow',
      keepReasoning: namespace!.keepReasoning,
      sticky: namespace!.sticky,
      passedThrough: !isNamed,
      hostedTools: namespace!.hostedTools,
    }
    return { target, timeouts: namespace!.timeouts }
  }

  #maxBodyOf(kind: Kind): number {
    const upstreams = [...this.namespaces.values()].map((namespace) => this.#upstreamOf(namespace, kind) ?? this.#sandbox)
    return Math.max(...[this.#sandbox, ...upstreams].map(({ provider }) => provider.maxBody ?? Number.POSITIVE_INFINITY))
  }

  /** Undefined if the namespace of a model is unknown or dormant. */
  #upstreamFor({ namespace }: ModelId, kind: Kind): NamedProvider | undefined {
    const known = this.namespaces.get(namespace)
    return known && this.#upstreamOf(known, kind)
  }

  #upstreamOf(namespace: Namespace, kind: Kind): NamedProvider | undefined {
    return kind === 'test' && namespace.testKeys === 'sandbox' ? this.#sandbox : namespace.upstream
  }
}

function* namesOf({ namespaces, curated, aliases }: Omit<TableParts, 'sandbox'>): Iterable<string> {
  yield* aliases.keys()
  for (const { name, routes } of curated.values()) for (const model of routes.keys()) yield `${name}/${model}`
  for (const { name, models = [] } of namespaces.values())
    for (const model of models) if (!model.includes('*')) yield `${name}/${model}`
}

function split(id: string): ModelId {
  const slash = id.indexOf('/')
  return { id, namespace: id.slice(0, slash), model: id.slice(slash + 1) }
}

/** The longest valid name, in characters. */
const MAX_ID = 256
/** Control characters, and halves of a surrogate pair. */
const CONTROL = /[\p{Cc}\p{Cs}]/u

/** Finds the target of a model id of an upstream's namespace; undefined if the namespace is dormant. */
export type FindTarget = (id: string) => (Pick<Candidate, 'timeouts'> & { readonly target: Target }) | undefined

/** The settings that outer routes impose on a route. */
type Settings = Pick<RouteConfig, 'timeouts' | 'defaults' | 'strict'>

/**
 * The routes of all curated models, by id, without those that lead to dormant namespaces only. The outer route's settings take
 * precedence over the inner route's, and both over the namespace's.
 */
function buildRoutes(namespaces: Iterable<CuratedNamespace>, find: FindTarget): ReadonlyMap<string, Route> {
  const configs = new Map([...namespaces].flatMap(({ routes }) => [...routes.values()].map((route) => [route.id, route])))
  const routes = [...configs.values()].map((config): readonly [string, Route | undefined] => {
    const choice = toChoice(config, { timeouts: {}, defaults: {}, strict: false }, { configs, find })
    return [config.id, choice && toRoute(config, choice)]
  })
  return new Map(routes.filter((entry): entry is [string, Route] => entry[1] !== undefined))
}

function toRoute({ id, retry, timeouts }: RouteConfig, choice: Choice): Route {
  return {
    id,
    leads: choice,
    retry,
    total: timeouts.total ?? Math.max(...candidatesOf(choice).map((each) => each.timeouts.total)),
  }
}

interface Known {
  readonly configs: ReadonlyMap<string, RouteConfig>
  readonly find: FindTarget
}

/** Undefined if all of its targets and fallbacks are dormant. */
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
