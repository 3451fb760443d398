/** A list of globs. Those without `*`, usually most, are looked up; only the others are compared. */
export class GlobList {
  readonly #names: ReadonlySet<string>
  readonly #globs: readonly string[]

  constructor(globs: readonly string[]) {
    this.#names = new Set(globs)
    this.#globs = globs.filter((glob) => glob.includes('*'))
  }

  /** Whether an id is in the list itself. */
  names(id: string): boolean {
    return this.#names.has(id)
  }

  /** Whether an id matches one of the list. */
  matches(id: string): boolean {
    return this.#names.has(id) || this.#globs.some((glob) => matchesGlob(glob, id))
  }
}

/**
 * Whether a model id matches a glob: `*` matches any characters, slashes included; every other character matches itself.
 * Each piece is searched for once, from left to right: no glob can make it backtrack.
 */
export function matchesGlob(glob: string, id: string): boolean {
  const star = glob.indexOf('*')
  if (star < 0) return glob === id
  // Most ids end here, at no cost.
  if (!id.startsWith(glob.slice(0, star))) return false
  const pieces = glob.slice(star + 1).split('*')
  const tail = pieces.pop()!
  let from = star
  for (const piece of pieces) {
    const found = id.indexOf(piece, from)
    if (found < 0) return false
    from = found + piece.length
  }
  return id.length - tail.length >= from && id.endsWith(tail)
}
