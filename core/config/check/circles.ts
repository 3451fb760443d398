import type { Table } from '../table.ts'
import type { Problem } from '../text/source.ts'
import type { ModelNames } from './model-names.ts'
import { where } from './sentences.ts'

/** Curated models that lead back to themselves: no upstream would ever be reached. Each circle is told of once. */
export function findCircles(table: Table, names: ModelNames): readonly Problem[] {
  const told = new Set<string>()
  return [...names.routes.keys()].flatMap((id) => {
    const circle = shortestCircle(id, names)
    const members = circle.toSorted().join(' ')
    if (circle.length === 0 || told.has(members)) return []
    told.add(members)
    const route = names.routes.get(id)!
    const next = circle[1] ?? id
    const { path } = [...route.targets, ...route.fallbacks].find((member) => member.id === next)!
    const message = `${where(path)} goes in a circle: ${[...circle, id].join(' → ')}; remove one of these steps`
    return [{ span: table.source.value(path), message }]
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
