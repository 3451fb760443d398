import { createHash } from 'node:crypto'
import { resolve } from 'node:path'
import { toCurated, toExpectations } from './build-curated.ts'
import type { CheckedTable } from './checked-table.ts'
import type { Config, DeclaredKey, LinkConfig, NamespaceConfig, Timeouts } from './config.ts'
import { milliseconds } from './duration.ts'
import { instant } from './instant.ts'
import type { Routes } from './schema.ts'
import type { Source } from './text/source.ts'

/** The Config that a table means. */
export function buildConfig(table: CheckedTable): Config {
  const { source, routes, rateClasses } = table
  const entries = Object.entries(routes.namespaces)
  const [upstream, curated] = [true, false].map((has) => entries.filter(([, { provider }]) => (provider !== undefined) === has))
  return {
    file: resolve(source.file),
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

function toLink({ source, links }: CheckedTable, { when }: Routes['chain'][number], index: number): LinkConfig {
  return { ...links.get(String(index))!, ...(when && { when }), at: source.position(source.value(['chain', index])) }
}

function toNamespace(
  { source, providers, dormant }: CheckedTable,
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
    at: source.position(source.key(['namespaces', name])),
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
  source: Source,
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
    at: source.position(source.value(['keys', index])),
  }
}
