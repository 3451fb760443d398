import type { CheckedTable } from './checked-table.ts'
import type { CuratedNamespace, Expectation, RouteConfig, TargetConfig, Timeouts } from './config.ts'
import { milliseconds } from './duration.ts'
import { RETRY_CAUSES, type RetryCause } from './retry-causes.ts'
import type { CuratedModels } from './schema/route.ts'
import type { Routes } from './schema.ts'
import type { Path } from './text/source.ts'

/** The namespace that a map of curated models means. */
export function toCurated(table: CheckedTable, name: string, { models }: Routes['namespaces'][string]): CuratedNamespace {
  const path = ['namespaces', name]
  const routes = Object.entries(models as CuratedModels).map(
    ([model, route]) => [model, toRoute(table, [...path, 'models', model], route)] as const,
  )
  return { name, routes: new Map(routes), at: table.source.position(table.source.key(path)) }
}

function toRoute(table: CheckedTable, path: Path, route: CuratedModels[string]): RouteConfig {
  const { choose, sticky, retry, defaults, strict } = route
  return {
    id: `${path[1]}/${path.at(-1)}`,
    targets: route.targets.map((target, index) => toTarget(table, [...path, 'targets', index], target)),
    fallbacks: route.fallbacks.map((model, index) => toTarget(table, [...path, 'fallbacks', index], { model, weight: 1 })),
    choose,
    ...(sticky !== undefined && { sticky }),
    retry: { attempts: retry.attempts, on: new Set(retry.on?.map(toCause) ?? RETRY_CAUSES) },
    defaults,
    timeouts: toTimeouts(route.timeouts),
    strict,
    at: table.source.position(table.source.key(path)),
  }
}

function toTarget({ source, routes }: CheckedTable, path: Path, { model, weight }: Omit<TargetConfig, 'at'>): TargetConfig {
  const id = Object.hasOwn(routes.aliases, model) ? routes.aliases[model]! : model
  return { model: id, weight, at: source.position(source.value(path)) }
}

function toTimeouts(timeouts: CuratedModels[string]['timeouts']): Partial<Timeouts> {
  return Object.fromEntries(Object.entries(timeouts).map(([name, written]) => [name, milliseconds(written)]))
}

/** What the author expects, in the order written. */
export function toExpectations({ source, routes }: CheckedTable): readonly Expectation[] {
  return Object.entries(routes.expect).flatMap(([model, expected]) => {
    const path: Path = ['expect', model]
    if (typeof expected === 'string') return [{ model, failing: new Map(), to: expected, at: source.position(source.key(path)) }]
    return expected.map(({ failing = {}, to }, index) => ({
      model,
      failing: new Map(Object.entries(failing).map(([name, cause]) => [name, toCause(cause)])),
      to,
      at: source.position(source.value([...path, index])),
    }))
  })
}

/** YAML reads `429` as a number. */
const toCause = (written: string | number): RetryCause => String(written) as RetryCause
