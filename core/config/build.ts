import { createHash } from 'node:crypto'
import { resolve } from 'node:path'
import { instant, milliseconds } from '../text/times.ts'
import type { Installed } from './checks/plugins.ts'
import type {
  Config,
  CuratedNamespace,
  DeclaredKey,
  Expectation,
  LinkConfig,
  NamespaceConfig,
  RouteConfig,
  TargetConfig,
  Timeouts,
} from './config.ts'
import type { ConfigFile, Path } from './file/config-file.ts'
import type { Reference } from './file/interpolate.ts'
import type { CuratedModels } from './schema/curated-models.ts'
import { RETRY_CAUSES, type RetryCause } from './schema/retry-causes.ts'
import type { Routes } from './schema/routes-yaml.ts'

/** The Config that a table means. */
export function buildConfig(table: CheckedConfig): Config {
  const { source, routes, rateClasses } = table
  const entries = Object.entries(routes.namespaces)
  const [upstream, curated] = [true, false].map((has) => entries.filter(([, { provider }]) => (provider !== undefined) === has))
  return {
    file: resolve(source.name),
    sha256: createHash('sha256').update(source.text).digest('hex'),
    chain: routes.chain.map((link, index) => toLink(table, link, index)),
    namespaces: new Map(upstream!.map(([name, entry]) => [name, toNamespace(table, name, entry)])),
    curated: new Map(curated!.map(([name, entry]) => [name, toCurated(table, name, entry)])),
    aliases: new Map(Object.entries(routes.aliases)),
    keys: routes.keys.map((key, index) => toKey(source, key, index)),
    rateClasses,
    expectations: toExpectations(table),
  }
}

function toLink({ source, links }: CheckedConfig, { when }: Routes['chain'][number], index: number): LinkConfig {
  return { ...links.get(String(index))!, ...(when && { when }), at: source.position(source.valueSpan(['chain', index])) }
}

function toNamespace(
  { source, providers, dormant }: CheckedConfig,
  name: string,
  { models, timeouts, testKeys, breaker, concurrency }: Routes['namespaces'][string],
): NamespaceConfig {
  const { plugin, config } = providers.get(name)!
  const missing = dormant.get(name)?.map((reference) => reference.name)
  return {
    name,
    plugin,
    config: missing ? undefined : config,
    ...(Array.isArray(models) && { models }),
    timeouts: toTimeouts(timeouts),
    testKeys,
    breaker,
    ...(concurrency && {
      concurrency: {
        limit: concurrency.limit,
        queue: concurrency.queue ?? concurrency.limit,
        wait: milliseconds(concurrency.wait),
      },
    }),
    ...(missing && { dormant: [...new Set(missing)].join(', ') }),
    at: source.position(source.keySpan(['namespaces', name])),
  }
}

function toTimeouts({ connect, firstByte, idle, total }: Routes['namespaces'][string]['timeouts']): Timeouts {
  return {
    connect: milliseconds(connect),
    firstByte: milliseconds(firstByte),
    idle: milliseconds(idle),
    total: milliseconds(total),
  }
}

function toKey(
  source: ConfigFile,
  { name, hash, kind, models, class: rateClass, expires }: Routes['keys'][number],
  index: number,
): DeclaredKey {
  return {
    name,
    digest: hash.slice('sha256:'.length).toLowerCase(),
    kind,
    models,
    ...(rateClass !== undefined && { rateClass }),
    ...(expires !== undefined && { expires: instant(expires) }),
    at: source.position(source.valueSpan(['keys', index])),
  }
}

/** The namespace that a map of curated models means. */
export function toCurated(table: CheckedConfig, name: string, { models }: Routes['namespaces'][string]): CuratedNamespace {
  const path = ['namespaces', name]
  const routes = Object.entries(models as CuratedModels).map(
    ([model, route]) => [model, toRoute(table, [...path, 'models', model], route)] as const,
  )
  return { name, routes: new Map(routes), at: table.source.position(table.source.keySpan(path)) }
}

function toRoute(table: CheckedConfig, path: Path, route: CuratedModels[string]): RouteConfig {
  const { choose, sticky, retry, defaults, strict } = route
  return {
    id: `${path[1]}/${path.at(-1)}`,
    targets: route.targets.map((target, index) => toTarget(table, [...path, 'targets', index], target)),
    fallbacks: route.fallbacks.map((model, index) => toTarget(table, [...path, 'fallbacks', index], { model, weight: 1 })),
    choose,
    ...(sticky !== undefined && { sticky }),
    retry: { attempts: retry.attempts, on: new Set(retry.on?.map(toCause) ?? RETRY_CAUSES) },
    defaults,
    timeouts: toOwnTimeouts(route.timeouts),
    strict,
    at: table.source.position(table.source.keySpan(path)),
  }
}

function toTarget({ source, routes }: CheckedConfig, path: Path, { model, weight }: Omit<TargetConfig, 'at'>): TargetConfig {
  const id = Object.hasOwn(routes.aliases, model) ? routes.aliases[model]! : model
  return { model: id, weight, at: source.position(source.valueSpan(path)) }
}

function toOwnTimeouts(timeouts: CuratedModels[string]['timeouts']): Partial<Timeouts> {
  return Object.fromEntries(Object.entries(timeouts).map(([name, written]) => [name, milliseconds(written)]))
}

/** What the author expects, in the order written. */
export function toExpectations({ source, routes }: CheckedConfig): readonly Expectation[] {
  return Object.entries(routes.expect).flatMap(([model, expected]) => {
    const path: Path = ['expect', model]
    if (typeof expected === 'string')
      return [{ model, failing: new Map(), to: expected, at: source.position(source.keySpan(path)) }]
    return expected.map(({ failing = {}, to }, index) => ({
      model,
      failing: new Map(Object.entries(failing).map(([name, cause]) => [name, toCause(cause)])),
      to,
      at: source.position(source.valueSpan([...path, index])),
    }))
  })
}

/** YAML reads `429` as a number. */
const toCause = (written: string | number): RetryCause => String(written) as RetryCause

/** A table in which nothing is wrong. */
export interface CheckedConfig {
  readonly source: ConfigFile
  readonly routes: Routes
  /** By index in the chain. */
  readonly links: ReadonlyMap<string, Installed<'chain'>>
  /** By namespace. */
  readonly providers: ReadonlyMap<string, Installed<'provider'>>
  /** By namespace, what it lacks. */
  readonly dormant: ReadonlyMap<string, readonly Reference[]>
  /** Those that plugins declare. */
  readonly rateClasses: readonly string[]
}
