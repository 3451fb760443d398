import {
  Composer,
  type CST,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type Node,
  type Pair,
  type ParsedNode,
  Parser,
  type Scalar,
  visit,
  YAMLParseError,
  type YAMLSeq,
} from 'yaml'
import { inSlices } from '../../async/long-work.ts'
import type { Position } from '../../text/diagnostic.ts'
import type { Path } from './path.ts'

/** Offsets into the text: the first character, and the one after the last. Of a map or list, its first character only. */
export type Span = readonly [start: number, end: number]

/** An error in routes.yaml and its position. */
export interface Problem {
  readonly span: Span
  readonly message: string
  /** Text that no code frame may show, not even the frame of another problem. */
  readonly hide?: readonly Span[]
}

/** The most values that aliases of aliases may expand to, far more than any routes.yaml needs. */
export const MAX_ALIASES = 10_000

interface Entry {
  readonly key?: Node
  readonly value: Node | null
}

/** The text of routes.yaml, and the position of every key and value in it. */
export class ConfigFile {
  /** The file's path as given by the caller. */
  readonly name: string
  readonly text: string
  /** Equal keys of a map are one: their maps and lists are joined, and of other values the last one counts. */
  readonly document: Document.Parsed
  /** Keys that their map already has. */
  readonly duplicates: readonly Span[]
  /** References inside `{ }` and `[ ]` without quotes. */
  readonly unquoted: readonly Span[]
  readonly #lines: LineCounter
  /** What the maps and lists hold, by name: a file may have thousands of entries, each looked up several times. */
  readonly #indexes = new WeakMap<Node, ReadonlyMap<string, Entry>>()

  constructor(name: string, text: string, parsed = atOnce(parse(text))) {
    this.name = name
    this.text = text
    this.document = parsed.document
    this.duplicates = parsed.duplicates
    this.unquoted = parsed.unquoted
    this.#lines = parsed.lines
  }

  /** The same as the constructor, in slices: while a gateway reads a file, it serves calls. */
  static async read(name: string, text: string): Promise<ConfigFile> {
    return new ConfigFile(name, text, await inSlices(parse(text)))
  }

  position(span: Span): Position {
    const { line, col } = this.#lines.linePos(span[0])
    return { file: this.name, line, column: col }
  }

  /** The span of a key. For an entry without a key, the span of its value; for an absent path, that of its parent. */
  keySpan(path: Path): Span {
    return spanOf(this.#entry(path)?.key) ?? this.valueSpan(path)
  }

  /** The span of a value. For an empty value, the span of its key; for an absent path, that of its parent. */
  valueSpan(path: Path): Span {
    const entry = this.#entry(path)
    return spanOf(entry?.value) ?? spanOf(entry?.key) ?? (path.length === 0 ? [0, 0] : this.valueSpan(path.slice(0, -1)))
  }

  /** Whether the file has an entry at a path. */
  has(path: Path): boolean {
    return this.#entry(path) !== undefined
  }

  /** The scalar at a path; undefined if there is none. */
  scalar(path: Path): Scalar | undefined {
    const value = this.#entry(path)?.value
    return isScalar(value) ? value : undefined
  }

  /** Whether a scalar contains an unquoted reference: a placeholder was parsed. */
  isUnquoted({ range }: Scalar): boolean {
    const [start, end] = range ?? [0, 0]
    return this.unquoted.some((span) => span[0] < end && start < span[1])
  }

  /** Every scalar value below a path, keys excluded. A scalar that aliases share is yielded at each of its paths. */
  *scalars(path: Path = []): Iterable<readonly [Path, Scalar]> {
    const node = this.#entry(path)?.value
    if (node) yield* this.#walk(path, node, [])
  }

  /** The values of the file as plain data, with the current values of its scalars. Throws if aliases expand to too many values. */
  toData(): unknown {
    return this.document.toJS({ maxAliasCount: MAX_ALIASES })
  }

  *#walk(path: Path, node: Node, above: readonly Node[]): Iterable<readonly [Path, Scalar]> {
    if (isScalar(node)) yield [path, node]
    // An alias may be inside its own anchor.
    if (above.includes(node)) return
    for (const [segment, { value }] of this.#children(node)) {
      if (value) yield* this.#walk([...path, segment], value, [...above, node])
    }
  }

  #entry(path: Path): Entry | undefined {
    let entry: Entry | undefined = { value: this.document.contents }
    for (const segment of path) entry = entry?.value ? this.#index(entry.value).get(String(segment)) : undefined
    return entry
  }

  #index(node: Node): ReadonlyMap<string, Entry> {
    let index = this.#indexes.get(node)
    if (index === undefined) {
      index = new Map(this.#children(node).map(([name, entry]) => [String(name), entry]))
      this.#indexes.set(node, index)
    }
    return index
  }

  #children(node: Node | null | undefined): [string | number, Entry][] {
    if (isSeq<Node>(node)) return node.items.map((value, index) => [index, { value: this.#resolved(value) }])
    if (!isMap<Scalar, Node>(node)) return []
    return node.items.map(({ key, value }: Pair<Scalar, Node>) => [String(key.value), { key, value: this.#resolved(value) }])
  }

  #resolved(node: Node | null): Node | null {
    return isAlias(node) ? (node.resolve(this.document) ?? null) : node
  }
}

/**
 * How routes.yaml is parsed. `uniqueKeys`: the parser would compare each key with all before it, which takes seconds for a map of ten
 * thousand; `ConfigFile.duplicates` has those that are not unique.
 */
export const YAML_OPTIONS = {
  version: '1.2',
  stringKeys: true,
  uniqueKeys: false,
  prettyErrors: false,
  logLevel: 'error',
} as const

/** What a text is parsed to. */
interface Parsed extends Pick<ConfigFile, 'document' | 'duplicates' | 'unquoted'> {
  readonly lines: LineCounter
}

/**
 * Parses the text; the caller may pause at each `yield`. A reference without quotes inside `{ }` or `[ ]` breaks the YAML after it: such
 * references are replaced by placeholders of the same length, so that the rest of the file can be checked.
 */
function* parse(text: string): Generator<void, Parsed> {
  const unquoted: Span[] = []
  for (let readable = text; ; readable = withPlaceholders(text, unquoted)) {
    const lines = new LineCounter()
    const document = yield* parseDocument(readable, lines)
    const found = document.errors.flatMap(({ pos: [at] }) =>
      readable.startsWith('${', at - 1) ? [referenceAt(text, at - 1)] : [],
    )
    if (found.length > 0) {
      unquoted.push(...found)
      continue
    }
    yield
    const duplicates = duplicatesIn(document)
    yield
    joinEqualKeys(document.contents)
    yield
    return { document, duplicates, lines, unquoted }
  }
}

/** Words of YAML after which the parser may pause. */
const WORDS = 1000

/** As `parseDocument` of yaml 2.9.1, which cannot pause. */
function* parseDocument(text: string, lines: LineCounter): Generator<void, Document.Parsed> {
  const tokens: CST.Token[] = []
  const parser = new Parser(lines.addNewLine)
  lines.addNewLine(0)
  let words = 0
  for (const word of new Lexer().lex(text)) {
    tokens.push(...parser.next(word))
    if (++words % WORDS === 0) yield
  }
  tokens.push(...parser.end())
  yield
  const composer = new Composer<ParsedNode, true>(YAML_OPTIONS)
  const [document, next] = composer.compose(tokens, true, text.length)
  if (next !== undefined) {
    const [start, end] = next.range
    document!.errors.push(new YAMLParseError([start, end], 'MULTIPLE_DOCS', 'there is more than one document'))
  }
  return document!
}

/** Runs a generator to its end. */
function atOnce<Result>(steps: Generator<unknown, Result>): Result {
  for (let step = steps.next(); ; step = steps.next()) if (step.done) return step.value
}

function referenceAt(text: string, start: number): Span {
  const [reference] = /^\$\{[^}\n]*\}?/.exec(text.slice(start))!
  return [start, start + reference.length]
}

const withPlaceholders = (text: string, spans: readonly Span[]): string =>
  spans.reduce((masked, [start, end]) => masked.slice(0, start) + '_'.repeat(end - start) + masked.slice(end), text)

function duplicatesIn(document: Document.Parsed): readonly Span[] {
  const duplicates: Span[] = []
  visit(document, {
    Map(_, { items }) {
      const names = new Set<string>()
      for (const { key } of items as Pair<Scalar, Node>[]) {
        const name = String(key.value)
        if (names.has(name)) duplicates.push(spanOf(key) ?? [key.range![0], key.range![0]])
        names.add(name)
      }
    },
  })
  return duplicates
}

/** Joins what equal keys hold. Else all that only the first of them holds would be reported as missing. */
function joinEqualKeys(node: unknown): void {
  if (isSeq(node)) node.items.forEach(joinEqualKeys)
  if (!isMap<Scalar, Node>(node)) return
  const pairs = new Map<string, Pair<Scalar, Node>>()
  for (const pair of node.items) {
    const key = String(pair.key.value)
    const { value: first } = pairs.get(key) ?? {}
    if (isMap(first) && isMap(pair.value)) first.items.push(...pair.value.items)
    else if (isSeq(first) && isSeq(pair.value)) first.items.push(...pair.value.items.filter((item) => !holds(first, item)))
    else pairs.set(key, pair)
  }
  node.items = [...pairs.values()]
  for (const { value } of node.items) joinEqualKeys(value)
}

const holds = ({ items }: YAMLSeq, item: unknown): boolean =>
  isScalar(item) && items.some((other) => isScalar(other) && other.value === item.value)

function spanOf(node: Node | null | undefined): Span | undefined {
  const [start = 0, end = 0] = node?.range ?? []
  if (end === start) return undefined
  return isScalar(node) ? [start, end] : [start, start + 1]
}
