import type { Table } from '../table.ts'
import type { Problem } from '../text/source.ts'
import type { LooseRoute, LooseTarget } from './loose-routes.ts'
import type { ModelNames } from './model-names.ts'
import { where } from './sentences.ts'

/** Targets and fallbacks of one curated model, those of the curated models among them included: each call looks through them all. */
const MOST = 1000

/**
 * Curated models that lead to too much. Few are enough for that where they name one another again and again: each way counts. Only
 * those are told of that lead to no other such model, so none that goes in a circle: it leads to itself.
 */
export function findOvergrown(table: Table, { routes }: ModelNames): readonly Problem[] {
  const overgrown = new Set([...routes.keys()].filter((id) => isOvergrown(id, routes)))
  return [...overgrown].flatMap((id) => {
    if (membersOf(id, routes).some((member) => overgrown.has(member.id))) return []
    const { path } = routes.get(id)!
    const message = `${where(path)} leads to more than ${MOST} targets and fallbacks, those of a curated model counted each time it is named; name fewer, or in the place of curated models those of upstreams that they stand for`
    return [{ span: table.source.key(path), message }]
  })
}

function isOvergrown(id: string, routes: ModelNames['routes']): boolean {
  // Whoever is reached is added while the list is walked, once for each way.
  const reached = [...membersOf(id, routes)]
  for (const { id } of reached) {
    if (reached.length > MOST) return true
    for (const member of membersOf(id, routes)) reached.push(member)
  }
  return false
}

/** None of a model that is not curated. */
function membersOf(id: string, routes: ReadonlyMap<string, LooseRoute>): readonly LooseTarget[] {
  const { targets = [], fallbacks = [] } = routes.get(id) ?? {}
  return [...targets, ...fallbacks]
}
