import type { Timeouts } from '../config/config.ts'
import { matchesGlob } from '../glob.ts'
import { GatewayError } from '../errors.ts'
import type { ModelId, Principal, Provider } from '../plugin/api.ts'
import type { Catalogue } from './catalogue.ts'

/** A configured provider with its plugin's name. */
export interface NamedProvider {
  readonly name: string
  readonly provider: Provider
}

/** One namespace of a generation, ready to serve. */
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

/** Where one call goes. */
export interface Target extends NamedProvider {
  readonly namespace: string
  /** What the upstream calls the model. */
  readonly model: string
  readonly timeouts: Timeouts
  /** The table does not name the model: if it does not exist, that is the client's affair. */
  readonly passedThrough: boolean
}

/** From the model a client names to the target that serves it. */
export class RoutingTable {
  readonly namespaces: ReadonlyMap<string, Namespace>
  readonly #aliases: ReadonlyMap<string, string>
  readonly #sandbox: NamedProvider

  constructor(namespaces: ReadonlyMap<string, Namespace>, aliases: ReadonlyMap<string, string>, sandbox: NamedProvider) {
    this.namespaces = namespaces
    this.#aliases = aliases
    this.#sandbox = sandbox
  }

  /** The model id a name stands for; undefined where it is neither an alias nor `<namespace>/<model>` of a known namespace. */
  resolve(name: string): ModelId | undefined {
    const id = this.#aliases.get(name) ?? name
    const slash = id.indexOf('/')
    const namespace = id.slice(0, slash)
    if (slash < 1 || slash === id.length - 1 || id.length > MAX_ID || CONTROL.test(id) || !this.namespaces.has(namespace))
      return undefined
    return { id, namespace, model: id.slice(slash + 1) }
  }

  /** Where a call goes. Throws `model_not_found` alike for what is not there and for what the principal may not call. */
  target(model: ModelId, principal: Principal): Target {
    const namespace = this.namespaces.get(model.namespace)
    const upstream = namespace && this.#upstreamFor(namespace, principal)
    if (upstream === undefined || !this.mayCall(model, principal)) throw notFound(model.id)
    return {
      ...upstream,
      namespace: namespace!.name,
      model: model.model,
      timeouts: namespace!.timeouts,
      passedThrough: !namespace!.models?.includes(model.model),
    }
  }

  /** Whether the namespace, the account and the key all allow a model. */
  mayCall(model: ModelId, principal: Principal): boolean {
    const allowed = this.namespaces.get(model.namespace)?.models
    return (
      (allowed === undefined || allowed.some((glob) => matchesGlob(glob, model.model))) &&
      principal.models.every((list) => list.some((glob) => matchesGlob(glob, model.id)))
    )
  }

  /** Who serves a namespace to a principal: a test key costs nothing and leaks nothing. */
  #upstreamFor(namespace: Namespace, principal: Principal): NamedProvider | undefined {
    return principal.kind === 'test' && namespace.testKeys === 'sandbox' ? this.#sandbox : namespace.upstream
  }
}

/** Characters; longer names exist nowhere. */
const MAX_ID = 256
/** Control characters, and halves of a surrogate pair. */
const CONTROL = /[\p{Cc}\p{Cs}]/u

/** One body for the unknown and the forbidden, so that neither can be told from the other. */
export const notFound = (id: string): GatewayError =>
  new GatewayError('model_not_found', { param: 'model', values: { model: id.slice(0, 200) } })
