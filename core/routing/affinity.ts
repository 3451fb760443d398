/** What calls have in common that keep to one place. */
export interface Affinity {
  /** What of the call says so, as explanations write it. */
  readonly signal: string
  /** Of its value and the caller's account. */
  readonly hash: number
  /** Whether many conversations may have it: then a place takes no more of them than its share. */
  readonly isShared: boolean
}

/** FNV-1a, 32 bits, over the code units of a text. */
export function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  return mixed(hash)
}

/** The finalizer of MurmurHash3: each bit of a number changes half of the bits of the result. */
function mixed(number: number): number {
  let hash = Math.imul(number ^ (number >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return hash ^ (hash >>> 16)
}

/**
 * A number above 0 and below 1 that a key draws for a place, both by their hashes. The place with the best rank takes the key: by this rendezvous
 * hashing (Schindelhauer and Schomaker, "Weighted Distributed Hash Tables", 2005) each process computes the same place, without a table, and
 * where a place is taken away or added, only the keys of that place move.
 */
export const drawn = (key: number, place: number): number => ((mixed(key ^ place) >>> 0) + 0.5) / 2 ** 32

/**
 * The rank of a place with a weight, by a number that was drawn for it: in ascending order of ranks each place is first in proportion to its weight,
 * and so is the next of the others (Efraimidis and Spirakis, "Weighted random sampling with a reservoir", 2006).
 */
export const rankOf = (draw: number, weight: number): number => -Math.log(draw) / weight

/**
 * How many times its share of the calls under way a place may have, and how many it may have in any case: so what many conversations have in common
 * overloads no place (Mirrokni et al., "Consistent Hashing with Bounded Loads", 2016; the factor is the default of apache/brpc#3502, 2026-09-06).
 */
const BOUNDED = { factor: 1.25, least: 8 } as const

/** The most calls under way at a place that has this share of `total` calls. */
export const mostAt = (share: number, total: number): number =>
  Math.max(BOUNDED.least, Math.ceil(BOUNDED.factor * share * (total + 1)))
