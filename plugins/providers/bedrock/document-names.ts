/** The longest name Bedrock takes. */
const LONGEST = 200

/**
 * Gives every file of a conversation a name that Bedrock takes: letters, digits, single blanks, hyphens, parentheses and square
 * brackets, no two alike. A name depends on earlier files only: the next turn gives the same ones, which prompt caches rely on.
 */
export class DocumentNames {
  readonly #taken = new Set<string>()
  readonly #copies = new Map<string, number>()

  /** The name for the next file. */
  take(filename: string | undefined): string {
    const base = fit(filename ?? '') || 'document'
    // Counting on from the last copy keeps a thousand equal names from costing a million look-ups.
    for (let copy = this.#copies.get(base) ?? 1; ; copy++) {
      this.#copies.set(base, copy + 1)
      const name = copy === 1 ? base : `${base}-${copy}`
      if (this.#taken.has(name.toLowerCase())) continue
      this.#taken.add(name.toLowerCase())
      return name
    }
  }
}

/** Without the extension, which the format says, without what a name may not have, and with room for the number of a copy. */
function fit(filename: string): string {
  return filename
    .replace(/\.[a-z\d]{1,5}$/i, '')
    .replace(/[^a-z\d()[\]-]+/gi, ' ')
    .slice(0, LONGEST - 8)
    .trim()
}
