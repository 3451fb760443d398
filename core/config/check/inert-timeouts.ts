import { DURATION, milliseconds } from '../duration.ts'
import { asMap } from '../loose.ts'
import type { Table } from '../table.ts'
import type { Path, Problem } from '../text/source.ts'
import type { ModelNames } from './model-names.ts'
import { where } from './sentences.ts'

/** Deadlines that never pass, because the whole call ends before. */
export function findInertTimeouts(table: Table, names: ModelNames): readonly Problem[] {
  const namespaces = asMap(asMap(table.data).namespaces)
  const totalOf = (namespace: string) => read(asMap(asMap(namespaces[namespace]).timeouts).total) ?? 0
  const ofNamespaces = Object.entries(namespaces).flatMap(([name, namespace]) =>
    longerThan(totalOf(name), asMap(namespace).timeouts, { table, path: ['namespaces', name, 'timeouts'] }),
  )
  const ofRoutes = [...names.routes.values()].flatMap(({ id, path, fields }) => {
    const totals = [...names.leaves(id)].map((leaf) => totalOf(leaf.slice(0, leaf.indexOf('/'))))
    const total = read(asMap(fields.timeouts).total) ?? Math.max(...totals)
    return longerThan(total, fields.timeouts, { table, path: [...path, 'timeouts'] })
  })
  return [...ofNamespaces, ...ofRoutes]
}

interface Place {
  readonly table: Table
  readonly path: Path
}

function longerThan(total: number, timeouts: unknown, { table, path }: Place): readonly Problem[] {
  if (total <= 0) return []
  return Object.entries(asMap(timeouts)).flatMap(([name, written]) => {
    const place = [...path, name]
    const ms = read(written)
    if (name === 'total' || ms === undefined || ms <= total || !table.source.has(place)) return []
    return [{ span: table.source.value(place), message: `${where(place)} has no effect: it is longer than "total"` }]
  })
}

function read(duration: unknown): number | undefined {
  return typeof duration === 'string' && new RegExp(DURATION).test(duration) ? milliseconds(duration) : undefined
}
