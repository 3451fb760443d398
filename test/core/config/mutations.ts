import { LineCounter, parseDocument, visit } from 'yaml'

/** A key or a scalar value of a file, and its position. */
export interface Token {
  readonly text: string
  readonly start: number
  readonly end: number
  readonly line: number
  readonly column: number
}

/** Names that the operator chooses: any other name is not a misspelling. */
const FREE = [
  'east',
  'west',
  'acme',
  'smart',
  'spare',
  'gpt-4o',
  'acme/smart',
  'west/qwen3',
  'east/large',
  'east/*',
  'west/*',
  'x-team',
  'temperature',
  'research',
  'team',
  'first',
  'second',
  'job',
]

/** The value of a default parameter: the schema allows any. */
const ANYTHING = '0.2'

/** The keys of the schema, and all scalar values that it restricts. */
export function tokensOf(text: string): { readonly keys: readonly Token[]; readonly scalars: readonly Token[] } {
  const lines = new LineCounter()
  const found = { keys: [] as Token[], scalars: [] as Token[] }
  visit(parseDocument(text, { lineCounter: lines }), {
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

/** The text with tokens replaced. The tokens must be in their order. */
export function replaceTokens(text: string, ...changes: readonly (readonly [Token, string])[]): string {
  return changes
    .toReversed()
    .reduce((changed, [{ start, end }, other]) => changed.slice(0, start) + other + changed.slice(end), text)
}

/** The word without a letter, and with two letters swapped. */
export function misspellings(word: string): readonly string[] {
  const middle = Math.floor(word.length / 2)
  const [before, a = '', b = '', after] = [word.slice(0, middle - 1), word[middle - 1], word[middle], word.slice(middle + 1)]
  return [before + b + after, before + b + a + after].filter((misspelt) => misspelt !== word)
}
