import { asMap } from '../loose.ts'
import type { Path } from '../text/source.ts'

/** A curated model, as far as it can be read from a table that may yet be wrong. */
export interface LooseRoute {
  readonly id: string
  readonly path: Path
  /** Those that name a model. */
  readonly targets: readonly LooseTarget[]
  /** Whether there is one target, readable or not. */
  readonly isSingle: boolean
  readonly fallbacks: readonly LooseTarget[]
  /** Its other fields. */
  readonly fields: Readonly<Record<string, unknown>>
}

/** A target or a fallback. */
export interface LooseTarget {
  /** Where its model is named. */
  readonly path: Path
  /** As written. */
  readonly name: string
  /** The model id it stands for. */
  readonly id: string
  readonly weight: unknown
}

/** Whether an entry of `namespaces` holds curated models. */
export function isCurated(namespace: unknown): boolean {
  const { provider, models } = asMap(namespace)
  return provider === undefined && typeof models === 'object' && models !== null && !Array.isArray(models)
}

/** The curated models of the table, by id. What the schema refuses is left out. */
export function readRoutes(
  namespaces: Readonly<Record<string, unknown>>,
  toId: (name: string) => string,
): ReadonlyMap<string, LooseRoute> {
  const routes = new Map<string, LooseRoute>()
  for (const [name, namespace] of Object.entries(namespaces)) {
    if (!isCurated(namespace)) continue
    for (const [model, route] of Object.entries(asMap(asMap(namespace).models))) {
      const id = `${name}/${model}`
      routes.set(id, readRoute(id, ['namespaces', name, 'models', model], { fields: asMap(route), toId }))
    }
  }
  return routes
}

interface Reading {
  readonly fields: Readonly<Record<string, unknown>>
  readonly toId: (name: string) => string
}

function readRoute(id: string, path: Path, { fields, toId }: Reading): LooseRoute {
  const list = (field: string) => (Array.isArray(fields[field]) ? (fields[field] as readonly unknown[]) : [])
  return {
    id,
    path,
    fields,
    isSingle: list('targets').length === 1,
    targets: list('targets').flatMap((target, index) => {
      const { model, weight } = asMap(target)
      return typeof model === 'string'
        ? [{ path: [...path, 'targets', index, 'model'], name: model, id: toId(model), weight }]
        : []
    }),
    fallbacks: list('fallbacks').flatMap((name, index) =>
      typeof name === 'string' ? [{ path: [...path, 'fallbacks', index], name, id: toId(name), weight: undefined }] : [],
    ),
  }
}
