/** A text with places that are filled call by call. */
export interface Template {
  /** The names of its places, each once: tells what a call must know. */
  readonly names: readonly string[]
  /** The text with its places filled; undefined where the value of one of them is unknown. */
  fill(value: (name: string) => string | undefined): string | undefined
}

/** `{{`, `{name}`, or a brace that is never closed. */
const BRACE = /\{\{|\{([^{}]*)\}|\{/g

/**
 * Compiles a template: `{name}` is a place, `{{` a literal brace. `names` are the places it may have; an entry that ends in `.*`
 * allows any name after the dot (`header.*` allows `{header.x-team}`). Throws an Error that lists the known names.
 */
export function compileTemplate(text: string, names: readonly string[]): Template {
  /** Literal texts around the places: `literals[0]`, `places[0]`, `literals[1]` … */
  const literals: string[] = []
  const places: string[] = []
  let literal = ''
  let end = 0
  for (const brace of text.matchAll(BRACE)) {
    const name = brace[1]
    literal += text.slice(end, brace.index)
    end = brace.index + brace[0].length
    if (brace[0] === '{{') literal += '{'
    else if (name === undefined) throw new Error(`the brace at character ${end} is never closed; write {{ for a literal brace`)
    else {
      places.push(known(name, names))
      literals.push(literal)
      literal = ''
    }
  }
  literals.push(literal + text.slice(end))
  return { names: [...new Set(places)], fill: (value) => join(literals, places, value) }
}

function known(name: string, names: readonly string[]): string {
  const matches = (allowed: string) =>
    allowed.endsWith('.*') ? name.startsWith(allowed.slice(0, -1)) && name.length >= allowed.length : name === allowed
  if (names.some(matches)) return name
  throw new Error(`unknown name {${name}}; the known ones are ${names.map((allowed) => `{${allowed}}`).join(', ')}`)
}

function join(literals: readonly string[], places: readonly string[], value: (name: string) => string | undefined) {
  let text = literals[0]!
  for (const [index, place] of places.entries()) {
    const filled = value(place)
    if (filled === undefined) return undefined
    text += filled + literals[index + 1]!
  }
  return text
}
