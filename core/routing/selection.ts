import { hash } from 'node:crypto'
import type { Branch, Candidate, Choice } from './route.ts'

/** The inputs of the order of candidates. */
export interface OrderHint {
  /** The id of the caller's key. */
  readonly key: string
  /** The request's `user`. */
  readonly user: string | undefined
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

function walk(choice: Choice, hint: OrderHint): readonly Candidate[] {
  return [...arranged(choice, hint), ...choice.fallbacks].flatMap((branch) =>
    'candidate' in branch ? branch.candidate : walk(branch.choice, hint),
  )
}

function arranged(choice: Choice, hint: OrderHint): readonly Branch[] {
  if (choice.targets.length === 1) return choice.targets
  return choice.targets
    .map((branch) => ({ branch, rank: rankOf(branch, choice, hint) }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ branch }) => branch)
}

/** Candidates are tried in ascending rank. */
function rankOf(branch: Branch, choice: Choice, hint: OrderHint): number {
  if (choice.by === 'latency') return best(branch, ({ target }) => target.health.latency)
  if (choice.by === 'busy') return (best(branch, ({ target }) => target.health.busy) + hint.random()) / branch.weight
  // With these ranks each branch is first in proportion to its weight, and so is the next of the remaining ones (Efraimidis and
  // Spirakis, "Weighted random sampling with a reservoir"). With a hash instead of a random number the order is always the same.
  return -Math.log(drawn(branch, choice, hint)) / branch.weight
}

/** Above 0, at most 1. */
function drawn(branch: Branch, { id, sticky }: Choice, { key, user, random }: OrderHint): number {
  const who = sticky === 'key' ? key : sticky === 'user' ? user : undefined
  if (who === undefined) return 1 - random()
  const digest = hash('sha256', JSON.stringify([id, nameOf(branch), who]), 'buffer')
  return (digest.readUInt32BE() + 1) / 2 ** 32
}

const nameOf = (branch: Branch): string => ('candidate' in branch ? branch.candidate.target.id : branch.choice.id)

/** For a nested choice: the value of its best target. */
function best(branch: Branch, measure: (candidate: Candidate) => number): number {
  if ('candidate' in branch) return measure(branch.candidate)
  return Math.min(...branch.choice.targets.map((inner) => best(inner, measure)))
}
