import { nearest } from '../../text/suggestions.ts'
import type { Path, Problem } from '../file/config-file.ts'
import type { RawConfig } from '../file/raw-config.ts'
import { asMap } from '../file/raw-config.ts'
import { formatPath } from './messages.ts'
import { isCurated } from './raw-routes.ts'

/** The fields of a namespace that speak of its upstream, which a curated one has not: what to do instead. */
export const OF_AN_UPSTREAM: Readonly<Record<string, string>> = {
  config: 'remove it, or name the provider that it configures',
  timeouts: 'give its models their timeouts, one by one',
  testKeys: 'say it in the namespaces that its models lead to',
  breaker: 'say it in the namespaces that its models lead to',
  concurrency: 'say it in the namespaces that its models lead to',
  optional: 'say it in the namespaces that its models lead to',
}

/** Namespaces that are neither of the two kinds, an upstream's and curated, or that mix them. */
export function checkNamespaces(table: RawConfig): readonly Problem[] {
  const { namespaces } = asMap(table.values)
  return Object.entries(asMap(namespaces)).flatMap(([name, namespace]) => {
    // One that is no map is the schema's to refuse.
    if (typeof namespace !== 'object' || namespace === null || Array.isArray(namespace)) return []
    const path = ['namespaces', name]
    if (isCurated(namespace)) return misplaced(table, path)
    const { provider, models } = asMap(namespace)
    if (provider === undefined) return withoutProvider(table, path, asMap(namespace))
    const isMixed = typeof models === 'object' && models !== null && !Array.isArray(models)
    return [...(isMixed ? mixed(table, path) : []), ...withoutEffect(table, path, asMap(namespace))]
  })
}

function misplaced(table: RawConfig, path: Path): readonly Problem[] {
  return Object.entries(OF_AN_UPSTREAM)
    .filter(([field]) => table.file.has([...path, field]))
    .map(([field, remedy]) => ({
      span: table.file.keySpan([...path, field]),
      message: `${formatPath([...path, field])} has no effect: without a provider the namespace has no upstream; ${remedy}`,
      hide: table.literals([...path, field]),
    }))
}

function withoutProvider(table: RawConfig, path: Path, namespace: Readonly<Record<string, unknown>>): readonly Problem[] {
  const unknown = Object.keys(namespace).filter((field) => !KNOWN.has(field))
  if (unknown.some((field) => ['provider', 'models'].includes(nearest(field, [...KNOWN]) ?? ''))) return []
  const message = `missing field "provider" in ${formatPath(path)}; add it, for example provider: openai-compatible`
  return [{ span: table.file.valueSpan(path), message, hide: table.literals([...path, 'config']) }]
}

function mixed(table: RawConfig, path: Path): readonly Problem[] {
  const place = [...path, 'models']
  const why = 'must be a list of names, for the namespace has a provider; curated models stand in a namespace without one'
  return [{ span: table.file.keySpan(place), message: `${formatPath(place)} ${why}` }]
}

function withoutEffect(
  table: RawConfig,
  path: Path,
  { optional, concurrency }: Readonly<Record<string, unknown>>,
): readonly Problem[] {
  const [optionalPath, waitPath] = [
    [...path, 'optional'],
    [...path, 'concurrency', 'wait'],
  ]
  const why = []
  if (optional === true && !mayBeUnset(table, path))
    why.push([optionalPath, 'the namespace refers to no variable or file that could be missing'] as const)
  if (asMap(concurrency).queue === 0 && table.file.has(waitPath)) why.push([waitPath, '"queue" is 0, so no call waits'] as const)
  return why.map(([place, reason]) => ({
    span: table.file.valueSpan(place),
    message: `${formatPath(place)} has no effect: ${reason}; remove it`,
  }))
}

function mayBeUnset(table: RawConfig, path: Path): boolean {
  return [...table.references()].some(
    ([place, { references, filled }]) =>
      place[1] === path[1] && place[0] === path[0] && (!filled || references.some(({ fallback }) => fallback === undefined)),
  )
}

const KNOWN: ReadonlySet<string> = new Set(['provider', 'models', ...Object.keys(OF_AN_UPSTREAM)])
