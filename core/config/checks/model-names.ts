import { matchesGlob } from '../../text/glob.ts'
import { didYouMean, nearest } from '../../text/suggestions.ts'
import type { RawConfig } from '../file/raw-config.ts'
import { asMap, asStrings } from '../file/raw-config.ts'
import { type RawRoute, readRoutes } from './raw-routes.ts'

/** Why a name leads nowhere. */
export interface UnknownName {
  /** The part of the name that is at fault. */
  readonly name: string
  readonly fault: string
  /** What would not have been at fault. */
  readonly known?: readonly string[]
  /** What was certainly meant. */
  readonly meant?: string
}

/** Why, in words. */
export const explainUnknown = ({ name, fault, known = [], meant = nearest(name, known) }: UnknownName): string =>
  `${JSON.stringify(name)} ${fault}${meant === undefined ? '' : didYouMean(meant, [meant])}`

/** What model names stand for in a table that may yet be wrong. */
export class ModelNames {
  /** The curated models, by their ids, in the order written. */
  readonly routes: ReadonlyMap<string, RawRoute>
  readonly #namespaces: Readonly<Record<string, unknown>> | undefined
  readonly #aliases: Readonly<Record<string, unknown>>

  constructor({ values }: RawConfig) {
    const { namespaces, aliases } = asMap(values)
    // Without any, the mistake is another one: the section is misspelt or missing.
    this.#namespaces = namespaces === undefined ? undefined : asMap(namespaces)
    this.#aliases = asMap(aliases)
    this.routes = readRoutes(asMap(namespaces), (name) => this.id(name))
  }

  /** The model id a name stands for, whether there is such a model or not. */
  id(name: string): string {
    const id = Object.hasOwn(this.#aliases, name) ? this.#aliases[name] : undefined
    return typeof id === 'string' ? id : name
  }

  /** Why no model goes by this name; undefined where one does, and for an alias, which is looked up at its own place. */
  unknownModel(name: string): UnknownName | undefined {
    if (Object.hasOwn(this.#aliases, name)) return undefined
    if (name.includes('/')) return this.#deadModel(name)
    const meant = [...this.routes.keys()].find((id) => id.endsWith(`/${name}`))
    const fault = 'is neither a model id (<namespace>/<model>) nor an alias'
    return { name, fault, known: Object.keys(this.#aliases), ...(meant !== undefined && { meant }) }
  }

  /** Why no model fits a glob of model ids. */
  unknownGlob(glob: string): UnknownName | undefined {
    const [namespace, model] = split(glob)
    if (namespace.includes('*')) return undefined
    if (!glob.includes('/')) return { name: glob, fault: 'is no model id: write <namespace>/<model>, or <namespace>/* for all' }
    const dead = this.unknownNamespace(namespace)
    if (dead !== undefined || !model.includes('*')) return dead ?? this.#deadModel(glob)
    const { what, known, open } = this.#modelsOf(namespace)
    const some = open || known.some((name) => name.includes('*') || matchesGlob(model, name))
    return some ? undefined : { name: model, fault: `fits none of ${what}`, known }
  }

  /** Why there is no such namespace. */
  unknownNamespace(name: string): UnknownName | undefined {
    if (this.#namespaces === undefined || Object.hasOwn(this.#namespaces, name)) return undefined
    return { name, fault: 'is no namespace', known: Object.keys(this.#namespaces) }
  }

  /** The ids of the upstream models that may serve a model, fallbacks included. */
  upstreamModels(name: string): ReadonlySet<string> {
    // Whoever is reached is added while the set is walked; a circle adds nobody.
    const reached = new Set([this.id(name)])
    for (const id of reached) {
      const { targets = [], fallbacks = [] } = this.routes.get(id) ?? {}
      for (const member of [...targets, ...fallbacks]) reached.add(member.id)
    }
    return new Set([...reached].filter((id) => !this.routes.has(id)))
  }

  #deadModel(id: string): UnknownName | undefined {
    const [namespace, model] = split(id)
    const dead = this.unknownNamespace(namespace)
    if (dead !== undefined) return dead
    const { what, known, open } = this.#modelsOf(namespace)
    return open || known.some((glob) => matchesGlob(glob, model))
      ? undefined
      : { name: model, fault: `is not among ${what}`, known }
  }

  #modelsOf(namespace: string): { readonly what: string; readonly known: readonly string[]; readonly open: boolean } {
    const { provider, models } = asMap(this.#namespaces?.[namespace])
    if (Array.isArray(models)) {
      const known = asStrings(models).map(([, glob]) => glob)
      return { what: 'the models that its namespace allows', known, open: known.length === 0 }
    }
    const known = Object.keys(asMap(models))
    return { what: 'the curated models of its namespace', known, open: provider !== undefined || known.length === 0 }
  }
}

/** A model id at its first slash. */
function split(id: string): readonly [namespace: string, model: string] {
  const [namespace = '', ...model] = id.split('/')
  return [namespace, model.join('/')]
}
