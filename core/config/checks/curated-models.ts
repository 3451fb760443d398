import type { Problem } from '../file/config-file.ts'
import { formatPath } from '../file/path.ts'
import type { RawConfig } from '../file/raw-config.ts'
import type { ModelNames } from './model-names.ts'

/** Finds curated models that refer back to themselves: they would never reach an upstream. Reports each cycle once. */
export function findCycles(raw: RawConfig, names: ModelNames): readonly Problem[] {
  const reported = new Set<string>()
  return [...names.routes.keys()].flatMap((id) => {
    const cycle = shortestCycle(id, names)
    const members = cycle.toSorted().join(' ')
    if (cycle.length === 0 || reported.has(members)) return []
    reported.add(members)
    const next = cycle[1] ?? id
    const { path } = names.membersOf(id).find((member) => member.id === next)!
    const message = `${formatPath(path)} is part of a cycle: ${[...cycle, id].join(' → ')}; remove one of these references`
    return [{ span: raw.file.valueSpan(path), message }]
  })
}

/** The ids on the shortest path from a curated model back to itself, itself first; empty if there is none. */
function shortestCycle(start: string, names: ModelNames): readonly string[] {
  const paths: string[][] = [[start]]
  const seen = new Set<string>()
  for (const path of paths) {
    for (const { id } of names.membersOf(path.at(-1)!)) {
      if (id === start) return path
      if (seen.has(id) || !names.routes.has(id)) continue
      seen.add(id)
      paths.push([...path, id])
    }
  }
  return []
}

/** The most targets and fallbacks of a curated model, those of its curated models included: each call may look at all of them. */
const MOST_MEMBERS = 1000

/**
 * Finds curated models with too many targets and fallbacks. A few models are enough if they name each other repeatedly: each mention
 * counts. Only the innermost ones are reported, so none that is part of a cycle.
 */
export function findTooLarge(raw: RawConfig, names: ModelNames): readonly Problem[] {
  const tooLarge = new Set([...names.routes.keys()].filter((id) => isTooLarge(id, names)))
  return [...tooLarge].flatMap((id) => {
    if (names.membersOf(id).some((member) => tooLarge.has(member.id))) return []
    const { path } = names.routes.get(id)!
    const message =
      `${formatPath(path)} leads to more than ${MOST_MEMBERS} targets and fallbacks (those of a curated model count each time it is ` +
      'named); name fewer, or name upstream models instead of curated ones'
    return [{ span: raw.file.keySpan(path), message }]
  })
}

function isTooLarge(id: string, names: ModelNames): boolean {
  // The list grows while it is iterated, once for each mention.
  const reached = [...names.membersOf(id)]
  for (const { id } of reached) {
    if (reached.length > MOST_MEMBERS) return true
    for (const member of names.membersOf(id)) reached.push(member)
  }
  return false
}
