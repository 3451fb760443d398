import { hash } from 'node:crypto'
import type { Branch, Candidate, Choice } from './route.ts'

/** What an order of candidates may depend on. */
export interface OrderHint {
  /** The id of the caller's key. */
  readonly key: string
  /** The request's `user`. */
  readonly user: string | undefined
  /** From 0 up to 1. */
  readonly random: () => number
}

/** In which order the candidates of a choice are asked: each once, its targets before its fallbacks. */
export function inOrder(choice: Choice, hint: OrderHint): readonly Candidate[] {
  const seen = new Set<string>()
  return walk(choice, hint).filter(({ target }) => !seen.has(target.id) && seen.add(target.id))
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

/** The lower, the sooner. */
function rankOf(branch: Branch, choice: Choice, hint: OrderHint): number {
  if (choice.by === 'latency') return best(branch, ({ target }) => target.health.latency)
  if (choice.by === 'busy') return (best(branch, ({ target }) => target.health.busy) + hint.random()) / branch.weight
  // With such ranks each branch is the first as often as its weight says, and so is the next of those that remain (Efraimidis and
  // Spirakis, "Weighted random sampling with a reservoir"); of a hash in the place of chance, always the same one.
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

/** Of a choice of its own, what the best of its targets has. */
function best(branch: Branch, measure: (candidate: Candidate) => number): number {
  if ('candidate' in branch) return measure(branch.candidate)
  return Math.min(...branch.choice.targets.map((inner) => best(inner, measure)))
}
