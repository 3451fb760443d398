import { DURATION, milliseconds } from '../../text/times.ts'
import type { Problem } from '../file/config-file.ts'
import { formatPath, type Path } from '../file/path.ts'
import { asMap, namespacesOf, type RawConfig } from '../file/raw-config.ts'
import { ONCE_MORE, ONLY_ELSEWHERE, RETRY_CAUSES } from '../schema/retry-causes.ts'
import type { ModelNames } from './model-names.ts'
import type { RawRoute } from './raw-routes.ts'

/** Finds rules of curated models that can never have an effect: their author must have meant something else. */
export function findIneffectiveRules(raw: RawConfig, names: ModelNames): readonly Problem[] {
  const context: RuleContext = { names, isWritten: (path) => raw.file.has(path) }
  const complete = [...names.routes.values()].filter(({ id }) => names.isComplete(id))
  return complete.flatMap((route) =>
    RULES.flatMap((find) => find(route, context)).map(([path, why]) => ({
      span: raw.file.valueSpan(path),
      message: `${formatPath(path)} ${why}`,
    })),
  )
}

/** The path of a rule without effect, and the reason. */
type Ineffective = readonly [Path, why: string]

interface RuleContext {
  readonly names: ModelNames
  /** Whether a value is in the file itself, and not a default. */
  readonly isWritten: (path: Path) => boolean
}

const RULES: readonly ((route: RawRoute, context: RuleContext) => readonly Ineffective[])[] = [
  ineffectiveWeights,
  ineffectiveFallbacks,
  ineffectiveChoice,
  ineffectiveRetries,
]

function ineffectiveWeights({ targets, isSingle, fields }: RawRoute, { isWritten }: RuleContext): readonly Ineffective[] {
  return targets.flatMap(({ path, weight }): readonly Ineffective[] => {
    const weightPath = [...path.slice(0, -1), 'weight']
    if (!isWritten(weightPath)) return []
    if (isSingle) return [[weightPath, 'has no effect: there is only one target; remove it']]
    if (fields.choose === 'latency') return [[weightPath, 'has no effect because "choose" is "latency"; remove it']]
    if (weight !== 0) return []
    return [[weightPath, 'is 0, so this target is never chosen; remove the target, or move it to "fallbacks"']]
  })
}

/** Fallbacks whose upstream models are all tried before them. */
function ineffectiveFallbacks({ targets, fallbacks }: RawRoute, { names }: RuleContext): readonly Ineffective[] {
  const tried = new Set(targets.flatMap(({ id }) => [...names.upstreamModels(id)]))
  const places = new Map(targets.map(({ id }, index) => [id, `targets[${index}]`]))
  return fallbacks.flatMap(({ path, id }, index): readonly Ineffective[] => {
    const models = [...names.upstreamModels(id)]
    const isTried = models.length > 0 && models.every((model) => tried.has(model))
    const same = places.get(id)
    for (const model of models) tried.add(model)
    places.set(id, same ?? `fallbacks[${index}]`)
    if (!isTried) return []
    const why = same === undefined ? 'all its models are tried before it' : `it is the same as ${same}, which is tried before it`
    return [[path, `has no effect: ${why}; remove it`]]
  })
}

function ineffectiveChoice({ path, isSingle, fields }: RawRoute, { isWritten }: RuleContext): readonly Ineffective[] {
  const written = ['choose', 'sticky'].filter((field) => isWritten([...path, field]))
  if (isSingle) return written.map((field) => [[...path, field], 'has no effect: there is only one target; remove it'])
  if (!written.includes('sticky') || !['latency', 'busy'].includes(String(fields.choose))) return []
  return [[[...path, 'sticky'], `has no effect because "choose" is "${fields.choose}"; keep one of the two`]]
}

function ineffectiveRetries({ id, path, fields }: RawRoute, { names, isWritten }: RuleContext): readonly Ineffective[] {
  const { attempts, on } = asMap(fields.retry)
  const onPath = [...path, 'retry', 'on']
  const attemptsPath = [...path, 'retry', 'attempts']
  const causes = (Array.isArray(on) ? on : RETRY_CAUSES).map(String)
  const models = names.upstreamModels(id).size
  if (attempts === 1) return isWritten(onPath) ? [[onPath, 'has no effect because "attempts" is 1; remove it']] : []
  const ineffective = Array.isArray(on) && models === 1 ? causes.filter((cause) => ONLY_ELSEWHERE.has(cause)) : []
  if (ineffective.length > 0) {
    const why = 'has no effect: after this failure only another model is tried, and there is only one; remove it'
    return ineffective.map((cause) => [[...onPath, causes.indexOf(cause)], why])
  }
  const most = mostAttempts(causes, models)
  if (typeof attempts !== 'number' || attempts <= most || !isWritten(attemptsPath)) return []
  return [[attemptsPath, `is too high: after these failures at most ${most} attempts are made; write ${most}`]]
}

/** The most attempts that can be made if all failures have one of these causes. */
function mostAttempts(causes: readonly string[], models: number): number {
  if (causes.some((cause) => !ONLY_ELSEWHERE.has(cause) && !ONCE_MORE.has(cause))) return Number.POSITIVE_INFINITY
  const elsewhere = causes.some((cause) => ONLY_ELSEWHERE.has(cause)) ? models : 1
  return elsewhere + (causes.some((cause) => ONCE_MORE.has(cause)) ? 1 : 0)
}

/** Finds timeouts of namespaces and curated models that can never pass, because they are longer than the timeout of the whole call. */
export function findIneffectiveTimeouts(raw: RawConfig, names: ModelNames): readonly Problem[] {
  const namespaces = namespacesOf(raw.values) ?? {}
  const totalOf = (namespace: string) => toMilliseconds(asMap(asMap(namespaces[namespace]).timeouts).total) ?? 0
  const ofNamespaces = Object.entries(namespaces).flatMap(([name, namespace]) =>
    longerThan(totalOf(name), asMap(namespace).timeouts, ['namespaces', name, 'timeouts']),
  )
  const ofRoutes = [...names.routes.values()].flatMap(({ id, path, fields }) => {
    const totals = [...names.upstreamModels(id)].map((model) => totalOf(model.slice(0, model.indexOf('/'))))
    const total = toMilliseconds(asMap(fields.timeouts).total) ?? Math.max(...totals)
    return longerThan(total, fields.timeouts, [...path, 'timeouts'])
  })
  return [...ofNamespaces, ...ofRoutes]
    .filter((path) => raw.file.has(path))
    .map((path) => ({
      span: raw.file.valueSpan(path),
      message: `${formatPath(path)} has no effect: it is longer than "total"`,
    }))
}

function longerThan(total: number, timeouts: unknown, path: Path): readonly Path[] {
  // A misspelt "total" is reported by the schema.
  if (total <= 0 || Object.keys(asMap(timeouts)).some((name) => !TIMEOUTS.includes(name))) return []
  return Object.entries(asMap(timeouts))
    .filter(([name, written]) => name !== 'total' && (toMilliseconds(written) ?? 0) > total)
    .map(([name]) => [...path, name])
}

const TIMEOUTS = ['connect', 'firstByte', 'idle', 'total']

/** Undefined if the value is not a duration: the schema reports that. */
function toMilliseconds(value: unknown): number | undefined {
  return typeof value === 'string' && new RegExp(DURATION).test(value) ? milliseconds(value) : undefined
}
