/** A text with placeholders, filled for each call. */
export interface Template {
  /** The names of its placeholders, each once. */
  readonly names: readonly string[]
  /** The text with the values of its placeholders; undefined if a value is undefined. */
  fill(value: (name: string) => string | undefined): string | undefined
}

/** `{{`, `{name}`, or an unclosed brace. */
const BRACE = /\{\{|\{([^{}]*)\}|\{/g

/**
 * Compiles a template: `{name}` is a placeholder, `{{` a literal brace. `names`: the allowed placeholders; an entry that ends in `.*`
 * allows any name after the dot (`header.*` allows `{header.x-team}`). Throws an Error that lists the allowed names.
 */
export function compileTemplate(text: string, names: readonly string[]): Template {
  /** Literal texts around the placeholders: `literals[0]`, `placeholders[0]`, `literals[1]` … */
  const literals: string[] = []
  const placeholders: string[] = []
  let literal = ''
  let end = 0
  for (const brace of text.matchAll(BRACE)) {
    const name = brace[1]
    literal += text.slice(end, brace.index)
    end = brace.index + brace[0].length
    if (brace[0] === '{{') literal += '{'
    else if (name === undefined) throw new Error(`the brace at character ${end} is never closed; write {{ for a literal brace`)
    else {
      placeholders.push(known(name, names))
      literals.push(literal)
      literal = ''
    }
  }
  literals.push(literal + text.slice(end))
  return { names: [...new Set(placeholders)], fill: (value) => join(literals, placeholders, value) }
}

function known(name: string, names: readonly string[]): string {
  const matches = (allowed: string) =>
    allowed.endsWith('.*') ? name.startsWith(allowed.slice(0, -1)) && name.length >= allowed.length : name === allowed
  if (names.some(matches)) return name
  throw new Error(`unknown name {${name}}; the known ones are ${names.map((allowed) => `{${allowed}}`).join(', ')}`)
}

function join(literals: readonly string[], placeholders: readonly string[], value: (name: string) => string | undefined) {
  let text = literals[0]!
  for (let index = 0; index < placeholders.length; index++) {
    const filled = value(placeholders[index]!)
    if (filled === undefined) return undefined
    text += filled + literals[index + 1]!
  }
  return text
}
