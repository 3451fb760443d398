import type { Sticky } from '../config/schema/sticky.ts'
import { type Affinity, drawn, hashOf, mostAt, rankOf } from './affinity.ts'
import { type Branch, type Candidate, type Choice, candidatesOf } from './route.ts'

/** The inputs of the order of candidates. */
export interface OrderHint {
  /** What a call has in common with others; undefined if it has nothing. */
  affinity(sticky: Sticky): Affinity | undefined
  /** From 0 up to 1. */
  readonly random: () => number
}

/** The order in which the candidates of a choice are tried: each once, targets before fallbacks. */
export function inOrder(choice: Choice, hint: OrderHint): readonly Candidate[] {
  const seen = new Set<string>()
  return walk(choice, hint).filter(({ target }) => !seen.has(target.id) && seen.add(target.id))
}

/** Candidates, and those that are cooling down. */
export interface Cooled {
  /** In the order of attempts: those that are cooling down last. The same list as before if there are none. */
  readonly candidates: readonly Candidate[]
  /** How many are not cooling down. */
  readonly ready: number
}

/** Puts the candidates last that are cooling down for calls of an account. `now`: monotonic milliseconds. */
export function coolestFirst(ordered: readonly Candidate[], account: string, now: number): Cooled {
  const isReady = ({ target }: Candidate): boolean => target.health.availability(now, account) !== 'coolingDown'
  if (ordered.every(isReady)) return { candidates: ordered, ready: ordered.length }
  const { ready = [], cooling = [] } = Object.groupBy(ordered, (each) => (isReady(each) ? 'ready' : 'cooling'))
  return { candidates: [...ready, ...cooling], ready: ready.length }
}

/** By what calls keep to one of several targets of a choice; undefined if it has one, or chooses in another way. */
export const stickyOf = ({ targets, by, sticky }: Choice): Sticky | undefined =>
  targets.length > 1 && by === 'weight' ? sticky : undefined

function walk(choice: Choice, hint: OrderHint): readonly Candidate[] {
  return [...arranged(choice, hint), ...choice.fallbacks].flatMap((branch) =>
    'candidate' in branch ? branch.candidate : walk(branch.choice, hint),
  )
}

function arranged(choice: Choice, hint: OrderHint): readonly Branch[] {
  const { targets } = choice
  if (targets.length === 1) return targets
  const sticky = stickyOf(choice)
  const affinity = sticky && hint.affinity(sticky)
  const ranked = targets.map((branch) => ({ branch, rank: rank(branch, choice, affinity, hint) })).sort((a, b) => a.rank - b.rank)
  const ordered = ranked.map(({ branch }) => branch)
  return affinity?.isShared ? fullLast(ordered, choice) : ordered
}

/** Candidates are tried in ascending rank. */
function rank(branch: Branch, { id, by }: Choice, affinity: Affinity | undefined, { random }: OrderHint): number {
  if (by === 'latency') return best(branch, ({ target }) => target.health.latency)
  if (by === 'busy') return (best(branch, ({ target }) => target.health.busy) + random()) / branch.weight
  // With the id of the choice, what a nested choice draws does not depend on what the outer one has drawn for the same target.
  const draw = affinity === undefined ? 1 - random() : drawn(affinity.hash, hashOf(`${id} ${nameOf(branch)}`))
  return rankOf(draw, branch.weight)
}

/** Puts the targets last that have all the calls that they may have. */
function fullLast(ordered: readonly Branch[], { targets }: Choice): readonly Branch[] {
  const total = targets.reduce((sum, branch) => sum + busyAt(branch), 0)
  const weights = targets.reduce((sum, { weight }) => sum + weight, 0)
  const { open = [], full = [] } = Object.groupBy(ordered, (branch) =>
    busyAt(branch) < mostAt(branch.weight / weights, total) ? 'open' : 'full',
  )
  return [...open, ...full]
}

function busyAt(branch: Branch): number {
  const candidates = candidatesOf('candidate' in branch ? branch.candidate : branch.choice)
  return candidates.reduce((sum, { target }) => sum + target.health.busy, 0)
}

const nameOf = (branch: Branch): string => ('candidate' in branch ? branch.candidate.target.id : branch.choice.id)

/** For a nested choice: the value of its best target. */
function best(branch: Branch, measure: (candidate: Candidate) => number): number {
  if ('candidate' in branch) return measure(branch.candidate)
  return Math.min(...branch.choice.targets.map((inner) => best(inner, measure)))
}
