import type { Path } from '../file/path.ts'
import { asMap } from '../file/raw-config.ts'
import { ROUTE_FIELDS } from '../schema/curated-models.ts'

/** A curated model in a RawConfig. */
export interface RawRoute {
  readonly id: string
  readonly path: Path
  /** The targets that name a model. */
  readonly targets: readonly RawTarget[]
  /** Whether there is exactly one target, valid or not. */
  readonly isSingle: boolean
  readonly fallbacks: readonly RawTarget[]
  /** Whether all its fields have known names, and all its targets and fallbacks could be read. Else the schema reports why not. */
  readonly isComplete: boolean
  /** The other fields. */
  readonly fields: Readonly<Record<string, unknown>>
}

/** A target or a fallback in a RawConfig. */
export interface RawTarget {
  /** The path of the model's name. */
  readonly path: Path
  /** The model's name as written. */
  readonly name: string
  /** The model id, aliases resolved. */
  readonly id: string
  readonly weight: unknown
}

/** Whether an entry of `namespaces` holds curated models. */
export function isCurated(namespace: unknown): boolean {
  const { provider, models } = asMap(namespace)
  return provider === undefined && typeof models === 'object' && models !== null && !Array.isArray(models)
}

/** The curated models by id, in the order of the file. Values of a wrong type are left out: the schema reports them. */
export function readRoutes(
  namespaces: Readonly<Record<string, unknown>>,
  toId: (name: string) => string,
): ReadonlyMap<string, RawRoute> {
  const routes = new Map<string, RawRoute>()
  for (const [name, namespace] of Object.entries(namespaces)) {
    if (!isCurated(namespace)) continue
    for (const [model, route] of Object.entries(asMap(asMap(namespace).models))) {
      const id = `${name}/${model}`
      routes.set(id, readRoute(id, ['namespaces', name, 'models', model], { fields: asMap(route), toId }))
    }
  }
  return routes
}

interface RouteFields {
  readonly fields: Readonly<Record<string, unknown>>
  readonly toId: (name: string) => string
}

function readRoute(id: string, path: Path, { fields, toId }: RouteFields): RawRoute {
  const list = (field: string) => (Array.isArray(fields[field]) ? (fields[field] as readonly unknown[]) : [])
  const targets = list('targets').flatMap((target, index) => {
    const { model, weight } = asMap(target)
    return typeof model === 'string' ? [{ path: [...path, 'targets', index, 'model'], name: model, id: toId(model), weight }] : []
  })
  const fallbacks = list('fallbacks').flatMap((name, index) =>
    typeof name === 'string' ? [{ path: [...path, 'fallbacks', index], name, id: toId(name), weight: undefined }] : [],
  )
  const isRead = targets.length === list('targets').length && fallbacks.length === list('fallbacks').length
  return {
    id,
    path,
    fields,
    isSingle: list('targets').length === 1,
    targets,
    fallbacks,
    isComplete: isRead && targets.length > 0 && Object.keys(fields).every((field) => ROUTE_FIELDS.includes(field)),
  }
}
