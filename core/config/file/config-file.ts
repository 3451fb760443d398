import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
  type Scalar,
  visit,
  type YAMLError,
} from 'yaml'
import type { Position } from '../../text/diagnostic.ts'

/** A way into the table: map keys and list indexes, `['chain', 0, 'plugin']`. */
export type Path = readonly (string | number)[]

/** Offsets into the text: the first character, and the one after the last. Of a map or list, its first character alone. */
export type Span = readonly [start: number, end: number]

/** Something wrong, and where. */
export interface Problem {
  readonly span: Span
  readonly message: string
  /** What no code frame may show, not even another problem's. */
  readonly hide?: readonly Span[]
}

interface Entry {
  readonly key?: Node
  readonly value: Node | null
}

/** The text of routes.yaml as a tree whose every key and value knows where it stands. */
export class ConfigFile {
  /** The file as it was named. */
  readonly name: string
  readonly text: string
  readonly document: Document.Parsed
  readonly #lines = new LineCounter()

  constructor(file: string, text: string) {
    this.name = file
    this.text = text
    const options = { version: '1.2', stringKeys: true, prettyErrors: false, logLevel: 'error' } as const
    this.document = parseDocument(text, { ...options, lineCounter: this.#lines })
  }

  position(span: Span): Position {
    const { line, col } = this.#lines.linePos(span[0])
    return { file: this.name, line, column: col }
  }

  /** Where a key stands; the value's place for what has no key, the parent's for what is not there. */
  keySpan(path: Path): Span {
    return spanOf(this.#entry(path)?.key) ?? this.valueSpan(path)
  }

  /** Where a value stands; its key's place where nothing is written, the parent's for what is not there. */
  valueSpan(path: Path): Span {
    const entry = this.#entry(path)
    return spanOf(entry?.value) ?? spanOf(entry?.key) ?? (path.length === 0 ? [0, 0] : this.valueSpan(path.slice(0, -1)))
  }

  /** Whether the file has something at a path. */
  has(path: Path): boolean {
    return this.#entry(path) !== undefined
  }

  /** The scalar at a path, if one is there. */
  scalar(path: Path): Scalar | undefined {
    const value = this.#entry(path)?.value
    return isScalar(value) ? value : undefined
  }

  /** Every scalar value below a path; keys are not values. One that several places share by an alias is met at each. */
  *scalars(path: Path = []): Iterable<readonly [Path, Scalar]> {
    const node = this.#entry(path)?.value
    if (node) yield* this.#walk(path, node, [])
  }

  *#walk(path: Path, node: Node, above: readonly Node[]): Iterable<readonly [Path, Scalar]> {
    if (isScalar(node)) yield [path, node]
    // An alias may stand inside its own anchor.
    if (above.includes(node)) return
    for (const [segment, { value }] of this.#children(node)) {
      if (value) yield* this.#walk([...path, segment], value, [...above, node])
    }
  }

  #entry(path: Path): Entry | undefined {
    let entry: Entry | undefined = { value: this.document.contents }
    for (const segment of path) {
      // The last of two equal keys is the one whose value counts.
      entry = this.#children(entry?.value).findLast(([name]) => String(name) === String(segment))?.[1]
    }
    return entry
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

function spanOf(node: Node | null | undefined): Span | undefined {
  const [start = 0, end = 0] = node?.range ?? []
  if (end === start) return undefined
  return isScalar(node) ? [start, end] : [start, start + 1]
}

/** Bounds what aliases of aliases can grow into, far above what a table needs. */
const MAX_ALIASES = 10_000

/** The table as plain data, as its scalars stand now. Only of a source that `checkSyntax` found readable. */
export function toData(source: ConfigFile): unknown {
  return source.document.toJS({ maxAliasCount: MAX_ALIASES })
}

/** What the YAML itself has wrong. `readable`: the rest can be checked all the same. */
export function checkSyntax(source: ConfigFile): { readonly problems: readonly Problem[]; readonly readable: boolean } {
  const errors: readonly YAMLError[] = [...source.document.errors, ...source.document.warnings]
  const aliases = brokenAliases(source)
  return {
    problems: [...firstOfEachLine(source, errors).map((error) => explain(source, error)), ...aliases],
    readable: aliases.length === 0 && errors.every(({ code }) => code === 'DUPLICATE_KEY'),
  }
}

/** One slip makes the parser stumble several times: what follows on the same line says nothing new. */
function firstOfEachLine(source: ConfigFile, errors: readonly YAMLError[]): readonly YAMLError[] {
  const lines = new Map(errors.toReversed().map((error) => [source.position(error.pos).line, error]))
  return [...lines.values()]
}

function explain({ text }: ConfigFile, { code, pos, message }: YAMLError): Problem {
  if (code === 'DUPLICATE_KEY') return { span: pos, message: 'this key stands twice in its map; keep one of them' }
  if (code === 'MULTIPLE_DOCS')
    return { span: pos, message: 'a file holds one table; remove this line, or what stands on one side of it' }
  if (text.slice(0, pos[0]).endsWith('$')) return { span: pos, message: `inside { } and [ ] quote a reference: "\${env:NAME}"` }
  return { span: pos, message: `not valid YAML: ${message}` }
}

function brokenAliases(source: ConfigFile): readonly Problem[] {
  const problems: Problem[] = []
  visit(source.document, {
    Alias(_, alias, above) {
      const anchored = alias.resolve(source.document)
      const [start = 0, end = 0] = alias.range ?? []
      if (anchored === undefined)
        problems.push({ span: [start, end], message: `no anchor "&${alias.source}" stands above this alias` })
      else if (above.includes(anchored))
        problems.push({
          span: [start, end],
          message: `this alias stands inside its anchor "&${alias.source}": it would never end`,
        })
    },
  })
  if (problems.length > 0) return problems
  try {
    toData(source)
    return []
  } catch {
    return [{ span: [0, 0], message: `the aliases of this file grow into more than ${MAX_ALIASES} values` }]
  }
}
