import { DURATION, milliseconds } from '../../text/times.ts'
import type { Problem } from '../file/config-file.ts'
import { formatPath, type Path } from '../file/path.ts'
import { asMap, type RawConfig } from '../file/raw-config.ts'
import type { ModelNames } from './model-names.ts'

/** Finds timeouts of namespaces and curated models that can never pass, because they are longer than the timeout of the whole call. */
export function findIneffectiveTimeouts(raw: RawConfig, names: ModelNames): readonly Problem[] {
  const namespaces = asMap(asMap(raw.values).namespaces)
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
  if (total <= 0) return []
  return Object.entries(asMap(timeouts))
    .filter(([name, written]) => name !== 'total' && (toMilliseconds(written) ?? 0) > total)
    .map(([name]) => [...path, name])
}

/** Undefined if the value is not a duration: the schema reports that. */
function toMilliseconds(value: unknown): number | undefined {
  return typeof value === 'string' && new RegExp(DURATION).test(value) ? milliseconds(value) : undefined
}
