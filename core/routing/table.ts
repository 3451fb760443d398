import type { CuratedNamespace, Timeouts } from '../config/config.ts'
import type { RetryCause } from '../config/retry-causes.ts'
import { GatewayError } from '../errors.ts'
import { matchesGlob } from '../glob.ts'
import { BoundedMap } from '../keys/bounded-map.ts'
import type { ModelId, Principal, Provider } from '../plugin/api.ts'
import { buildRoutes } from './build-routes.ts'
import type { Catalogue } from './catalogue.ts'
import type { Route, Target } from './route.ts'
import type { UpstreamState } from './upstream-state.ts'

/** A configured provider, its plugin's name, and what is known of its upstream. */
export interface NamedProvider {
  readonly name: string
  readonly provider: Provider
  readonly state: UpstreamState
}

/** One namespace with an upstream, ready to serve. */
export interface Namespace {
  readonly name: string
  /** Absent where the namespace is dormant: its credentials are not set. */
  readonly upstream: NamedProvider | undefined
  /** Names and globs; absent: any model passes through. */
  readonly models: readonly string[] | undefined
  readonly timeouts: Timeouts
  readonly testKeys: 'sandbox' | 'upstream'
  readonly catalogue: Catalogue
}

/** What a routing table is made of. */
export interface TableParts {
  readonly namespaces: ReadonlyMap<string, Namespace>
  readonly curated: ReadonlyMap<string, CuratedNamespace>
  readonly aliases: ReadonlyMap<string, string>
  /** Who answers test keys. */
  readonly sandbox: NamedProvider
}

/** Whose calls a route serves: test keys cost nothing and leak nothing. */
type Kind = Principal['kind']

/** How many names that the table does not write are remembered, per kind of key. */
const MOST_PASSED_THROUGH = 1000

/** One try, and one more on a new connection where the first met a stale one. */
const ONE_TRY = { attempts: 1, on: new Set<RetryCause>() } as const

/** From the model a client names to the route that serves it. */
export class RoutingTable {
  /** Those with an upstream. */
  readonly namespaces: ReadonlyMap<string, Namespace>
  /** Those without. */
  readonly curated: ReadonlyMap<string, CuratedNamespace>
  /** The largest body that a provider serves to such keys, in bytes. */
  readonly maxBody: Readonly<Record<Kind, number>>
  readonly #aliases: ReadonlyMap<string, string>
  readonly #sandbox: NamedProvider
  readonly #routes: Readonly<Record<Kind, ReadonlyMap<string, Route>>>
  readonly #plain: Readonly<Record<Kind, BoundedMap<string, Route>>> = {
    live: new BoundedMap(MOST_PASSED_THROUGH),
    test: new BoundedMap(MOST_PASSED_THROUGH),
  }

  constructor({ namespaces, curated, aliases, sandbox }: TableParts) {
    this.namespaces = namespaces
    this.curated = curated
    this.#aliases = aliases
    this.#sandbox = sandbox
    const routesOf = (kind: Kind) => buildRoutes(curated.values(), (id) => this.#named(split(id), kind))
    this.#routes = { live: routesOf('live'), test: routesOf('test') }
    this.maxBody = { live: this.#maxBodyOf('live'), test: this.#maxBodyOf('test') }
  }

  /** The model id a name stands for; undefined where it is neither an alias nor `<namespace>/<model>` of a known namespace. */
  resolve(name: string): ModelId | undefined {
    const id = this.#aliases.get(name) ?? name
    const slash = id.indexOf('/')
    if (slash < 1 || slash === id.length - 1 || id.length > MAX_ID || CONTROL.test(id)) return undefined
    const model = split(id)
    return this.namespaces.has(model.namespace) || this.curated.has(model.namespace) ? model : undefined
  }

  /** What serves a call. Throws `model_not_found` alike for what is not there and for what the principal may not call. */
  route(model: ModelId, principal: Principal): Route {
    const { kind } = principal
    const route = this.mayCall(model, principal) ? (this.#routes[kind].get(model.id) ?? this.#passing(model, kind)) : undefined
    if (route === undefined) throw notFound(model.id)
    return route
  }

  /** Whether the namespace, the account and the key all allow a model. */
  mayCall({ id, namespace, model }: ModelId, { models }: Principal): boolean {
    const allowed = this.namespaces.get(namespace)?.models
    return (
      (allowed === undefined || allowed.some((glob) => matchesGlob(glob, model))) &&
      models.every((list) => list.some((glob) => matchesGlob(glob, id)))
    )
  }

  /** The route of a model of an upstream's namespace; undefined where there is no such namespace, or it is dormant. */
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

  /** A target that a curated model names: its health is its own. */
  #named(model: ModelId, kind: Kind) {
    const namespace = this.namespaces.get(model.namespace)
    if (namespace !== undefined) this.#upstreamOf(namespace, kind)?.state.named(model.model)
    const found = this.#target(model, kind)
    return found && { ...found, target: { ...found.target, passedThrough: false } }
  }

  #target(model: ModelId, kind: Kind): { readonly target: Target; readonly timeouts: Timeouts } | undefined {
    const namespace = this.namespaces.get(model.namespace)
    const upstream = namespace && this.#upstreamOf(namespace, kind)
    if (upstream === undefined) return undefined
    const { name, provider, state } = upstream
    const isNamed = namespace!.models?.includes(model.model) ?? false
    const target: Target = {
      id: model.id,
      served: { namespace: model.namespace, model: model.model, provider: name },
      provider,
      upstream: state,
      health: isNamed ? state.named(model.model) : state.of(model.model),
      passedThrough: !isNamed,
    }
    return { target, timeouts: namespace!.timeouts }
  }

  #maxBodyOf(kind: Kind): number {
    const upstreams = [...this.namespaces.values()].map((namespace) => this.#upstreamOf(namespace, kind) ?? this.#sandbox)
    return Math.max(...[this.#sandbox, ...upstreams].map(({ provider }) => provider.maxBody ?? Number.POSITIVE_INFINITY))
  }

  #upstreamOf(namespace: Namespace, kind: Kind): NamedProvider | undefined {
    return kind === 'test' && namespace.testKeys === 'sandbox' ? this.#sandbox : namespace.upstream
  }
}

function split(id: string): ModelId {
  const slash = id.indexOf('/')
  return { id, namespace: id.slice(0, slash), model: id.slice(slash + 1) }
}

/** Characters; longer names exist nowhere. */
const MAX_ID = 256
/** Control characters, and halves of a surrogate pair. */
const CONTROL = /[\p{Cc}\p{Cs}]/u

/** One body for the unknown and the forbidden, so that neither can be told from the other. */
export const notFound = (id: string): GatewayError =>
  new GatewayError('model_not_found', { param: 'model', values: { model: id.slice(0, 200) } })
