import { isDeepStrictEqual } from 'node:util'
import { type CST, Lexer, LineCounter, Parser, parseDocument } from 'yaml'
import { MAX_ALIASES, YAML_OPTIONS } from './config-file.ts'

/** The text cannot be formatted without a change of what it says. */
export class UnformattableText extends Error {
  override readonly name = 'UnformattableText'
}

/**
 * Formats the text of a routes.yaml that is valid YAML: two spaces for each level, one after `:` and `-`, `{ a: 1 }` and `[a, b]` in one line,
 * at most one empty line in a row. All else stays as it was written: comments, quotes, the order of keys, where lines end. The result
 * formatted again is the same. Throws an UnformattableText rather than change what the file says.
 */
export function formatYaml(text: string): string {
  const formatted = new Formatter(text).format()
  const isSame =
    isDeepStrictEqual(dataOf(formatted), dataOf(text)) &&
    isDeepStrictEqual(commentsOf(formatted), commentsOf(text)) &&
    new Formatter(formatted).format() === formatted
  if (!isSame) throw new UnformattableText('its layout is unusual, and formatting would change what it says')
  return formatted
}

const dataOf = (text: string): unknown => parseDocument(text, YAML_OPTIONS).toJS({ maxAliasCount: MAX_ALIASES })

/** The comments in their order. */
const commentsOf = (text: string): readonly string[] =>
  [...new Lexer().lex(text)].filter((token) => token.startsWith('#')).map((comment) => comment.trimEnd())

/** A block map or list around a line: the column of its entries before and after. */
interface Level {
  readonly old: number
  readonly new: number
}

/** A part of a line that is replaced. */
interface Edit {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** Collects what changes of a text, by its tokens, and writes it line by line. */
class Formatter {
  readonly #text: string
  readonly #lines = new LineCounter()
  readonly #edits: Edit[] = []
  /** By line, from 0: the levels around its entry, the innermost last. A line without an entry goes on with the one before. */
  readonly #levels = new Map<number, readonly Level[]>()
  /** Lines of texts that take several: only their indentation may change. */
  readonly #verbatim = new Set<number>()

  constructor(text: string) {
    this.#text = text
    for (const token of new Parser(this.#lines.addNewLine).parse(text))
      if (token.type === 'document' && token.value) this.#visit(token.value, [], 0)
  }

  format(): string {
    const written: string[] = []
    const sources = this.#text.split('\n')
    // Each edit is within its line.
    const edits = Map.groupBy(this.#edits, ({ start }) => this.#lineOf(start))
    let levels: readonly Level[] = []
    let shift = 0
    for (const [index, source] of sources.entries()) {
      const own = this.#levels.get(index)
      const old = source.length - source.trimStart().length
      if (own !== undefined) {
        levels = own
        const { old: before = 0, new: after = 0 } = own.find((level) => level.old === old) ?? {}
        shift = after - before
      }
      const content = this.#contentOf(index, source, old, edits.get(index) ?? [])
      const isComment = own === undefined && content.startsWith('#') && !this.#verbatim.has(index)
      const indent = isComment ? this.#indentOfComment(index, old, levels) : Math.max(old + shift, 0)
      if (content !== '') written.push(' '.repeat(indent) + content)
      else if (this.#verbatim.has(index) || (written.length > 0 && written.at(-1) !== '')) written.push('')
    }
    while (written.at(-1) === '' && !this.#verbatim.has(sources.length - 1)) written.pop()
    return written.length === 0 ? '' : `${written.join('\n')}\n`
  }

  #contentOf(index: number, source: string, old: number, edits: readonly Edit[]): string {
    if (this.#verbatim.has(index)) return source.slice(old)
    const start = this.#text.length === 0 ? 0 : this.#lines.lineStarts[index]!
    return edits
      .toSorted((a, b) => b.start - a.start)
      .reduce((line, edit) => line.slice(0, edit.start - start) + edit.text + line.slice(edit.end - start), source)
      .trim()
  }

  /** A comment belongs to the entries in whose column it is: those of the next entry, or of the one before. */
  #indentOfComment(index: number, old: number, before: readonly Level[]): number {
    const next = [...this.#levels].find(([line]) => line > index)?.[1] ?? []
    const near = [...next, ...before]
    const level = near.find((each) => each.old === old) ?? near.filter((each) => each.old < old).sort((a, b) => b.old - a.old)[0]
    return level?.new ?? 0
  }

  #lineOf(offset: number): number {
    return this.#lines.linePos(offset).line - 1
  }

  #visit(token: CST.Token, around: readonly Level[], column: number): void {
    if (token.type === 'block-map' || token.type === 'block-seq') {
      const levels = [...around, { old: this.#lines.linePos(firstOf(token)).col - 1, new: column }]
      for (const item of token.items) this.#visitItem(item, levels, column)
    } else if (token.type === 'flow-collection') {
      const end = endOf(token)
      const inline = this.#lineOf(token.offset) === this.#lineOf(end) ? inOneLine(token) : undefined
      if (inline !== undefined) this.#edits.push({ start: token.offset, end, text: inline })
    } else if ('source' in token) {
      const from = this.#lineOf(token.offset)
      const to = this.#lineOf(Math.max(token.offset, token.offset + token.source.length - 1))
      // The first line of a text in lines has its key.
      const first = token.type === 'block-scalar' ? from : from + 1
      for (let line = first; line <= to; line++) this.#verbatim.add(line)
    }
  }

  #visitItem({ start, key, sep = [], value }: CST.CollectionItem, levels: readonly Level[], column: number): void {
    const dash = start.find(({ type }) => type === 'seq-item-ind')
    const first = dash ?? start.find(({ type }) => type === 'anchor' || type === 'tag') ?? key
    if (first) {
      const line = this.#lineOf(first.offset)
      this.#levels.set(line, [...(this.#levels.get(line) ?? []), ...levels])
    }
    for (const tokens of [start, sep]) this.#visitSpaces(tokens, value)
    if (key) this.#visit(key, levels, column)
    if (value) this.#visit(value, levels, column + 2)
  }

  /** One space after `-` and `:`, if the value is in the same line. */
  #visitSpaces(tokens: readonly CST.SourceToken[], value: CST.Token | null | undefined): void {
    for (const [index, { type, offset, source }] of tokens.entries()) {
      const before = tokens[index - 1]?.type
      const isLast = index === tokens.length - 1
      if (type === 'space' && isLast && value && (before === 'seq-item-ind' || before === 'map-value-ind'))
        this.#edits.push({ start: offset, end: offset + source.length, text: ' ' })
    }
  }
}

/** The offset of the first entry of a block. */
function firstOf({ items, offset }: CST.BlockMap | CST.BlockSequence): number {
  const [first] = items
  const [token] = first?.start.filter(({ type }) => !['space', 'newline', 'comment'].includes(type)) ?? []
  return token?.offset ?? first?.key?.offset ?? offset
}

const endOf = ({ end, offset }: CST.FlowCollection): number => {
  const bracket = end.find(({ type }) => type === 'flow-map-end' || type === 'flow-seq-end')
  return bracket === undefined ? offset : bracket.offset + 1
}

/** A collection in brackets with the usual spaces; undefined if it has more than keys and values. */
function inOneLine({ start, items }: CST.FlowCollection): string | undefined {
  const entries: string[] = []
  for (const { start: before, key, sep = [], value } of items) {
    const hasMore = [...before, ...sep].some(({ type }) => !['space', 'comma', 'map-value-ind'].includes(type))
    const texts = [key, value].flatMap((part) => (part ? [textOf(part)] : []))
    if (hasMore || texts.length === 0 || texts.includes(undefined)) return undefined
    entries.push(key && sep.length > 0 ? `${texts[0]}:${value ? ` ${texts.at(-1)}` : ''}` : texts.join(''))
  }
  const inside = entries.join(', ')
  if (inside === '') return start.source === '{' ? '{}' : '[]'
  return start.source === '{' ? `{ ${inside} }` : `[${inside}]`
}

function textOf(token: CST.Token): string | undefined {
  if (token.type === 'flow-collection') return inOneLine(token)
  return 'source' in token ? token.source : undefined
}
