import { LineCounter, parseDocument, visit } from 'yaml'

/** A key or a scalar value of a table, and where it stands. */
export interface Token {
  readonly text: string
  readonly start: number
  readonly end: number
  readonly line: number
  readonly column: number
}

/** Names that the operator chooses: another one is no misspelling. */
const FREE = ['east', 'west', 'acme', 'smart', 'spare', 'gpt-4o', 'acme/smart', 'west/qwen3', 'x-team', 'temperature']

/** The value of a default parameter may be anything as far as the table goes: only its provider knows. */
const ANYTHING = '0.2'

/** The keys that a schema knows, and all scalar values that it says something of. */
export function tokensOf(table: string): { readonly keys: readonly Token[]; readonly scalars: readonly Token[] } {
  const lines = new LineCounter()
  const found = { keys: [] as Token[], scalars: [] as Token[] }
  visit(parseDocument(table, { lineCounter: lines }), {
    Scalar(position, { range, source = '' }) {
      const [start = 0, end = 0] = range ?? []
      const { line, col } = lines.linePos(start)
      const token = { text: source, start, end, line, column: col }
      if (position !== 'key' && source !== ANYTHING) found.scalars.push(token)
      else if (position === 'key' && !FREE.includes(source)) found.keys.push(token)
    },
  })
  return found
}

/** The table with other text in the place of tokens, which are given in their order. */
export function replaceTokens(table: string, ...changes: readonly (readonly [Token, string])[]): string {
  return changes.toReversed().reduce((text, [{ start, end }, other]) => text.slice(0, start) + other + text.slice(end), table)
}

/** A letter left out, and two of them swapped. */
export function misspellings(word: string): readonly string[] {
  const middle = Math.floor(word.length / 2)
  const [before, a = '', b = '', after] = [word.slice(0, middle - 1), word[middle - 1], word[middle], word.slice(middle + 1)]
  return [before + b + after, before + b + a + after].filter((misspelt) => misspelt !== word)
}
