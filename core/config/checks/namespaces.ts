import { nearest } from '../../text/suggestions.ts'
import type { Problem } from '../file/config-file.ts'
import { formatPath, type Path } from '../file/path.ts'
import { asMap, namespacesOf, type RawConfig } from '../file/raw-config.ts'
import { UPSTREAM_FIELDS } from '../schema/namespace.ts'
import { isCurated } from './raw-routes.ts'

/**
 * Checks that each namespace is of one kind, with a provider or with curated models, and finds fields of a namespace that have no
 * effect.
 */
export function checkNamespaces(raw: RawConfig): readonly Problem[] {
  return Object.entries(namespacesOf(raw.values) ?? {}).flatMap(([name, namespace]) => {
    // The schema reports one that is not a map.
    if (typeof namespace !== 'object' || namespace === null || Array.isArray(namespace)) return []
    const path = ['namespaces', name]
    if (isCurated(namespace)) return fieldsOfAnUpstream(raw, path)
    const { provider, models } = asMap(namespace)
    if (provider === undefined) return missingProvider(raw, path, asMap(namespace))
    const isMixed = typeof models === 'object' && models !== null && !Array.isArray(models)
    return [...(isMixed ? [mixed(raw, path)] : []), ...withoutEffect(raw, path, asMap(namespace))]
  })
}

const IN_TARGETS = "set it in the namespaces of its models' targets"

/** What to do instead of setting a field of an upstream in a namespace with curated models. */
const REMEDIES: Readonly<Record<(typeof UPSTREAM_FIELDS)[number], string>> = {
  config: 'remove it, or name the provider that it configures',
  credentials: IN_TARGETS,
  timeouts: 'set the timeouts of each of its models',
  testKeys: IN_TARGETS,
  addresses: IN_TARGETS,
  keptObjects: IN_TARGETS,
  keepReasoning: IN_TARGETS,
  sticky: 'set it at each of its models',
  breaker: IN_TARGETS,
  concurrency: IN_TARGETS,
  limits: IN_TARGETS,
  tls: IN_TARGETS,
  hostedTools: IN_TARGETS,
  optional: IN_TARGETS,
}

function fieldsOfAnUpstream(raw: RawConfig, path: Path): readonly Problem[] {
  return UPSTREAM_FIELDS.map((field) => ({ field, fieldPath: [...path, field] }))
    .filter(({ fieldPath }) => raw.file.has(fieldPath))
    .map(({ field, fieldPath }) => ({
      span: raw.file.keySpan(fieldPath),
      message: `${formatPath(fieldPath)} has no effect: without a provider the namespace has no upstream; ${REMEDIES[field]}`,
      hide: raw.literals(fieldPath),
    }))
}

function missingProvider(raw: RawConfig, path: Path, namespace: Readonly<Record<string, unknown>>): readonly Problem[] {
  const fields = ['provider', 'models', ...UPSTREAM_FIELDS]
  const unknown = Object.keys(namespace).filter((field) => !fields.includes(field))
  // The schema reports a misspelt "provider" or "models".
  if (unknown.some((field) => ['provider', 'models'].includes(nearest(field, fields) ?? ''))) return []
  const message = `missing field "provider" in ${formatPath(path)}; add it, for example provider: openai-compatible`
  return [
    {
      span: raw.file.valueSpan(path),
      message,
      hide: ['config', 'credentials'].flatMap((field) => raw.literals([...path, field])),
    },
  ]
}

function mixed(raw: RawConfig, path: Path): Problem {
  const models = [...path, 'models']
  const message =
    `${formatPath(models)} must be a list of names, because the namespace has a provider; ` +
    'put curated models into a namespace without a provider'
  return { span: raw.file.keySpan(models), message }
}

function withoutEffect(
  raw: RawConfig,
  path: Path,
  { optional, concurrency, limits, credentials }: Readonly<Record<string, unknown>>,
): readonly Problem[] {
  const optionalPath = [...path, 'optional']
  const waitPath = [...path, 'concurrency', 'wait']
  const stickyPath = [...path, 'sticky']
  const found: (readonly [Path, why: string])[] = []
  if (optional === true && !mayBeUnset(raw, path))
    found.push([optionalPath, 'the namespace has no reference to a variable or file that may be missing'])
  if (asMap(concurrency).queue === 0 && raw.file.has(waitPath)) found.push([waitPath, '"queue" is 0, so no call waits'])
  if (raw.file.has(stickyPath) && Object.keys(asMap(credentials)).length < 2)
    found.push([stickyPath, 'there is only one credential'])
  const shared = asMap(limits)
  const limitsPath = [...path, 'limits']
  // Another name is a misspelt one, which the schema reports.
  if (raw.file.has(limitsPath) && Object.keys(shared).every((name) => name === 'wait'))
    found.push([limitsPath, 'it has none of "requests", "tokens" and "concurrent"'])
  const { limit } = asMap(concurrency)
  if (typeof limit === 'number' && typeof shared.concurrent === 'number' && limit >= shared.concurrent)
    found.push([[...path, 'concurrency'], '"limits" allows no more calls at once'])
  return found.map(([place, why]) => ({
    span: raw.file.valueSpan(place),
    message: `${formatPath(place)} has no effect: ${why}; remove it`,
  }))
}

function mayBeUnset(raw: RawConfig, path: Path): boolean {
  return [...raw.references()].some(
    ([place, { references, filled }]) =>
      place[1] === path[1] && place[0] === path[0] && (!filled || references.some(({ fallback }) => fallback === undefined)),
  )
}
