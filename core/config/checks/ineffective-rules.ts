import { DURATION, milliseconds } from '../../text/times.ts'
import type { Path, Problem } from '../file/config-file.ts'
import { asMap, type RawConfig } from '../file/raw-config.ts'
import { ONCE_MORE, ONLY_ELSEWHERE, RETRY_CAUSES } from '../schema/retry-causes.ts'
import { formatPath } from './messages.ts'
import type { ModelNames } from './model-names.ts'
import type { RawRoute } from './raw-routes.ts'

/** A rule that changes nothing: where it stands, and why. */
type Inert = readonly [Path, why: string]

/** What the rules of a curated model are held against. */
interface Context {
  readonly names: ModelNames
  /** Whether the file itself says something here, rather than a default. */
  readonly isWritten: (path: Path) => boolean
}

/** Rules of curated models that can never have an effect: whoever wrote one meant something else. */
export function findIneffectiveRules(table: RawConfig, names: ModelNames): readonly Problem[] {
  const context: Context = { names, isWritten: (path) => table.file.has(path) }
  return [...names.routes.values()].flatMap((route) =>
    FINDERS.flatMap((find) => find(route, context)).map(([path, why]) => ({
      span: table.file.valueSpan(path),
      message: `${formatPath(path)} ${why}`,
    })),
  )
}

const FINDERS: readonly ((route: RawRoute, context: Context) => readonly Inert[])[] = [
  weightsWithoutEffect,
  sameTargetTwice,
  fallbacksTriedBefore,
  choiceOfOne,
  retriesThatNeverCome,
]

function weightsWithoutEffect({ targets, isSingle, fields }: RawRoute, { isWritten }: Context): readonly Inert[] {
  return targets.flatMap(({ path, weight }): readonly Inert[] => {
    const place = [...path.slice(0, -1), 'weight']
    if (!isWritten(place)) return []
    if (isSingle) return [[place, 'has no effect: this is the only target; remove it']]
    if (fields.choose === 'latency') return [[place, 'has no effect where "choose" is "latency"; remove it']]
    return weight === 0 ? [[place, 'is 0, so this target is never chosen; remove it, or name it under "fallbacks"']] : []
  })
}

function sameTargetTwice({ targets }: RawRoute): readonly Inert[] {
  return targets.flatMap(({ path, id }, index) => {
    const first = targets.findIndex((target) => target.id === id)
    return first === index ? [] : [[path, `is also targets[${first}]; keep one of them, with both their weights`] as const]
  })
}

function fallbacksTriedBefore({ targets, fallbacks }: RawRoute, { names }: Context): readonly Inert[] {
  return fallbacks.flatMap(({ path, id }, index): readonly Inert[] => {
    const before = [...targets, ...fallbacks.slice(0, index)]
    const leaves = [...names.upstreamModels(id)]
    const tried = new Set(before.flatMap((target) => [...names.upstreamModels(target.id)]))
    if (leaves.length === 0 || !leaves.every((leaf) => tried.has(leaf))) return []
    const same = before.findIndex((target) => target.id === id)
    const place = same < targets.length ? `targets[${same}]` : `fallbacks[${same - targets.length}]`
    return [[path, `has no effect: ${same < 0 ? 'all that it stands for' : place} is tried before it; remove it`]]
  })
}

function choiceOfOne({ path, isSingle, fields }: RawRoute, { isWritten }: Context): readonly Inert[] {
  const written = ['choose', 'sticky'].filter((field) => isWritten([...path, field]))
  if (isSingle) return written.map((field) => [[...path, field], 'has no effect: there is one target only; remove it'])
  if (!written.includes('sticky') || !['latency', 'busy'].includes(String(fields.choose))) return []
  return [[[...path, 'sticky'], `has no effect where "choose" is "${fields.choose}"; keep one of the two`]]
}

function retriesThatNeverCome({ id, path, fields }: RawRoute, { names, isWritten }: Context): readonly Inert[] {
  const { attempts, on } = asMap(fields.retry)
  const [onPath, attemptsPath] = [
    [...path, 'retry', 'on'],
    [...path, 'retry', 'attempts'],
  ]
  const causes = (Array.isArray(on) ? on : RETRY_CAUSES).map(String)
  const models = names.upstreamModels(id).size
  if (attempts === 1) return isWritten(onPath) ? [[onPath, 'has no effect where "attempts" is 1; remove it']] : []
  const idle = Array.isArray(on) && models === 1 ? causes.filter((cause) => ONLY_ELSEWHERE.has(cause)) : []
  if (idle.length > 0) {
    const why = 'has no effect: after it only another model is tried, and this one has no other; remove it'
    return idle.map((cause) => [[...onPath, causes.indexOf(cause)], why])
  }
  const most = mostTries(causes, models)
  if (typeof attempts !== 'number' || attempts <= most || !isWritten(attemptsPath)) return []
  return [[attemptsPath, `is more than can ever be made: after such failures there are at most ${most} tries; write ${most}`]]
}

/** How many tries there can be after failures of these causes only. */
function mostTries(causes: readonly string[], models: number): number {
  if (causes.some((cause) => !ONLY_ELSEWHERE.has(cause) && !ONCE_MORE.has(cause))) return Number.POSITIVE_INFINITY
  const elsewhere = causes.some((cause) => ONLY_ELSEWHERE.has(cause)) ? models : 1
  return elsewhere + (causes.some((cause) => ONCE_MORE.has(cause)) ? 1 : 0)
}

/** Deadlines that never pass, because the whole call ends before. */
export function findIneffectiveTimeouts(table: RawConfig, names: ModelNames): readonly Problem[] {
  const namespaces = asMap(asMap(table.values).namespaces)
  const totalOf = (namespace: string) => read(asMap(asMap(namespaces[namespace]).timeouts).total) ?? 0
  const ofNamespaces = Object.entries(namespaces).flatMap(([name, namespace]) =>
    longerThan(totalOf(name), asMap(namespace).timeouts, { table, path: ['namespaces', name, 'timeouts'] }),
  )
  const ofRoutes = [...names.routes.values()].flatMap(({ id, path, fields }) => {
    const totals = [...names.upstreamModels(id)].map((leaf) => totalOf(leaf.slice(0, leaf.indexOf('/'))))
    const total = read(asMap(fields.timeouts).total) ?? Math.max(...totals)
    return longerThan(total, fields.timeouts, { table, path: [...path, 'timeouts'] })
  })
  return [...ofNamespaces, ...ofRoutes]
}

interface Place {
  readonly table: RawConfig
  readonly path: Path
}

function longerThan(total: number, timeouts: unknown, { table, path }: Place): readonly Problem[] {
  if (total <= 0) return []
  return Object.entries(asMap(timeouts)).flatMap(([name, written]) => {
    const place = [...path, name]
    const ms = read(written)
    if (name === 'total' || ms === undefined || ms <= total || !table.file.has(place)) return []
    return [{ span: table.file.valueSpan(place), message: `${formatPath(place)} has no effect: it is longer than "total"` }]
  })
}

function read(duration: unknown): number | undefined {
  return typeof duration === 'string' && new RegExp(DURATION).test(duration) ? milliseconds(duration) : undefined
}
