import type { Path, Problem } from '../file/config-file.ts'
import { asMap, type RawConfig } from '../file/raw-config.ts'
import { formatPath } from './messages.ts'
import type { ModelNames } from './model-names.ts'

/** A curated model, as far as it can be read from a table that may yet be wrong. */
export interface RawRoute {
  readonly id: string
  readonly path: Path
  /** Those that name a model. */
  readonly targets: readonly RawTarget[]
  /** Whether there is one target, readable or not. */
  readonly isSingle: boolean
  readonly fallbacks: readonly RawTarget[]
  /** Its other fields. */
  readonly fields: Readonly<Record<string, unknown>>
}

/** A target or a fallback. */
export interface RawTarget {
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

interface Reading {
  readonly fields: Readonly<Record<string, unknown>>
  readonly toId: (name: string) => string
}

function readRoute(id: string, path: Path, { fields, toId }: Reading): RawRoute {
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

/** Curated models that lead back to themselves: no upstream would ever be reached. Each circle is told of once. */
export function findCycles(table: RawConfig, names: ModelNames): readonly Problem[] {
  const told = new Set<string>()
  return [...names.routes.keys()].flatMap((id) => {
    const circle = shortestCircle(id, names)
    const members = circle.toSorted().join(' ')
    if (circle.length === 0 || told.has(members)) return []
    told.add(members)
    const route = names.routes.get(id)!
    const next = circle[1] ?? id
    const { path } = [...route.targets, ...route.fallbacks].find((member) => member.id === next)!
    const message = `${formatPath(path)} goes in a circle: ${[...circle, id].join(' → ')}; remove one of these steps`
    return [{ span: table.file.valueSpan(path), message }]
  })
}

/** The ids on the shortest way from a curated model back to itself, itself first; empty where there is none. */
function shortestCircle(start: string, { routes }: ModelNames): readonly string[] {
  const ways: string[][] = [[start]]
  const seen = new Set<string>()
  for (const way of ways) {
    const { targets = [], fallbacks = [] } = routes.get(way.at(-1)!) ?? {}
    for (const { id } of [...targets, ...fallbacks]) {
      if (id === start) return way
      if (seen.has(id) || !routes.has(id)) continue
      seen.add(id)
      ways.push([...way, id])
    }
  }
  return []
}

/** Targets and fallbacks of one curated model, those of the curated models among them included: each call looks through them all. */
const MOST = 1000

/**
 * Curated models that lead to too much. Few are enough for that where they name one another again and again: each way counts. Only
 * those are told of that lead to no other such model, so none that goes in a circle: it leads to itself.
 */
export function findTooLarge(table: RawConfig, { routes }: ModelNames): readonly Problem[] {
  const overgrown = new Set([...routes.keys()].filter((id) => isOvergrown(id, routes)))
  return [...overgrown].flatMap((id) => {
    if (membersOf(id, routes).some((member) => overgrown.has(member.id))) return []
    const { path } = routes.get(id)!
    const message = `${formatPath(path)} leads to more than ${MOST} targets and fallbacks, those of a curated model counted each time it is named; name fewer, or in the place of curated models those of upstreams that they stand for`
    return [{ span: table.file.keySpan(path), message }]
  })
}

function isOvergrown(id: string, routes: ModelNames['routes']): boolean {
  // Whoever is reached is added while the list is walked, once for each way.
  const reached = [...membersOf(id, routes)]
  for (const { id } of reached) {
    if (reached.length > MOST) return true
    for (const member of membersOf(id, routes)) reached.push(member)
  }
  return false
}

/** None of a model that is not curated. */
function membersOf(id: string, routes: ReadonlyMap<string, RawRoute>): readonly RawTarget[] {
  const { targets = [], fallbacks = [] } = routes.get(id) ?? {}
  return [...targets, ...fallbacks]
}
