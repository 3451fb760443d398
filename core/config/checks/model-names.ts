import { matchesGlob } from '../../text/glob.ts'
import { didYouMean, nearest } from '../../text/suggestions.ts'
import type { Path } from '../file/path.ts'
import { asMap, asStrings, namespacesOf, type RawConfig } from '../file/raw-config.ts'
import { isMisspelt } from './misspelt.ts'
import { type RawRoute, type RawTarget, readRoutes } from './raw-routes.ts'

/** A name that refers to nothing. */
export interface UnknownName {
  /** The wrong part of the name. */
  readonly name: string
  /** The predicate of the message: `is not a namespace`. */
  readonly reason: string
  /** The names that exist. */
  readonly known?: readonly string[]
  /** The name to suggest, if it is not the nearest of `known`. */
  readonly meant?: string
}

/** `"esat" is not a namespace; did you mean "east"?` */
export const describeUnknown = ({ name, reason, known = [], meant = nearest(name, known) }: UnknownName): string =>
  `${JSON.stringify(name)} ${reason}${meant === undefined ? '' : didYouMean(meant, [meant])}`

/** The models of a namespace. */
interface KnownModels {
  readonly what: string
  /** Names and globs. */
  readonly known: readonly string[]
  readonly names: ReadonlySet<string>
  /** The namespace allows any model. */
  readonly open: boolean
}

/** Resolves the model names of a RawConfig. */
export class ModelNames {
  /** The curated models by id, in the order of the file. */
  readonly routes: ReadonlyMap<string, RawRoute>
  readonly #namespaces: Readonly<Record<string, unknown>> | undefined
  readonly #aliases: Readonly<Record<string, unknown>>
  readonly #areAliasesKnown: boolean
  readonly #isUnset: (path: Path) => boolean
  /** Cached by namespace: a namespace may list thousands of models. */
  readonly #models = new Map<string, KnownModels>()

  constructor(raw: RawConfig) {
    const { values } = raw
    const { aliases } = asMap(values)
    this.#isUnset = (path) => raw.isUnset(path)
    // If the section is missing, misspelt or no map, the schema reports that, and no namespace is unknown.
    this.#namespaces = namespacesOf(values)
    this.#aliases = asMap(aliases)
    this.#areAliasesKnown = !isMisspelt(values, 'aliases')
    this.routes = readRoutes(this.#namespaces ?? {}, (name) => this.id(name))
  }

  /** The model id of a name, aliases resolved. The model need not exist. */
  id(name: string): string {
    const id = Object.hasOwn(this.#aliases, name) ? this.#aliases[name] : undefined
    return typeof id === 'string' ? id : name
  }

  /** Why there is no model of this name; undefined if there is one, and for an alias, which is checked at its own entry. */
  unknownModel(name: string): UnknownName | undefined {
    if (Object.hasOwn(this.#aliases, name)) return undefined
    if (name.includes('/')) return this.#unknownId(name)
    if (!this.#areAliasesKnown) return undefined
    const meant = [...this.routes.keys()].find((id) => id.endsWith(`/${name}`))
    const reason = 'is neither a model id (<namespace>/<model>) nor an alias'
    return { name, reason, known: Object.keys(this.#aliases), ...(meant !== undefined && { meant }) }
  }

  /** Why no model matches a glob of model ids; undefined if one does. */
  unknownGlob(glob: string): UnknownName | undefined {
    const [namespace, model] = split(glob)
    if (namespace.includes('*')) return undefined
    if (!glob.includes('/'))
      return { name: glob, reason: 'is not a model id: write <namespace>/<model>, or <namespace>/* for all models' }
    const unknown = this.unknownNamespace(namespace)
    if (unknown !== undefined || !model.includes('*')) return unknown ?? this.#unknownId(glob)
    const { what, known, open } = this.#modelsOf(namespace)
    const matches = open || known.some((name) => name.includes('*') || matchesGlob(model, name))
    return matches ? undefined : { name: model, reason: `matches none of ${what}`, known }
  }

  /** Why there is no such namespace; undefined if there is. */
  unknownNamespace(name: string): UnknownName | undefined {
    if (this.#namespaces === undefined || Object.hasOwn(this.#namespaces, name)) return undefined
    return { name, reason: 'is not a namespace', known: Object.keys(this.#namespaces) }
  }

  /** The targets and fallbacks of a curated model; none for any other id. */
  membersOf(id: string): readonly RawTarget[] {
    const { targets = [], fallbacks = [] } = this.routes.get(id) ?? {}
    return [...targets, ...fallbacks]
  }

  /** Whether all models behind a name could be read: else its upstream models are not all known. */
  isComplete(name: string): boolean {
    return [...this.#reached(name)].every((id) => this.routes.get(id)?.isComplete ?? this.#isOfUpstream(id))
  }

  #isOfUpstream(id: string): boolean {
    return asMap(this.#namespaces?.[split(id)[0]]).provider !== undefined
  }

  /** The ids of the upstream models that may serve a model, fallbacks included. */
  upstreamModels(name: string): ReadonlySet<string> {
    return new Set([...this.#reached(name)].filter((id) => !this.routes.has(id)))
  }

  /** The ids of a model and of all curated and upstream models behind it. */
  #reached(name: string): ReadonlySet<string> {
    // The set grows while it is iterated; in a cycle it grows no more.
    const reached = new Set([this.id(name)])
    for (const id of reached) for (const member of this.membersOf(id)) reached.add(member.id)
    return reached
  }

  #unknownId(id: string): UnknownName | undefined {
    const [namespace, model] = split(id)
    const unknown = this.unknownNamespace(namespace)
    if (unknown !== undefined) return unknown
    const { what, known, names, open } = this.#modelsOf(namespace)
    return open || names.has(model) || known.some((glob) => matchesGlob(glob, model))
      ? undefined
      : { name: model, reason: `is not one of ${what}`, known }
  }

  #modelsOf(namespace: string): KnownModels {
    const models = this.#models.get(namespace) ?? this.#readModels(namespace)
    this.#models.set(namespace, models)
    return models
  }

  #readModels(namespace: string): KnownModels {
    const { provider, models } = asMap(this.#namespaces?.[namespace])
    if (Array.isArray(models)) {
      const known = asStrings(models).map(([, glob]) => glob)
      const isUnset = known.some((_, index) => this.#isUnset(['namespaces', namespace, 'models', index]))
      return { what: 'the models that its namespace allows', known, names: new Set(known), open: known.length === 0 || isUnset }
    }
    const known = Object.keys(asMap(models))
    const open = provider !== undefined || known.length === 0
    return { what: 'the curated models of its namespace', known, names: new Set(known), open }
  }
}

/** A model id, split at its first slash. */
function split(id: string): readonly [namespace: string, model: string] {
  const [namespace = '', ...model] = id.split('/')
  return [namespace, model.join('/')]
}
