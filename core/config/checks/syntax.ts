import { visit, type YAMLError } from 'yaml'
import { type ConfigFile, MAX_ALIASES, type Problem, type Span } from '../file/config-file.ts'

/** The problems of the YAML itself. */
export interface CheckedSyntax {
  readonly problems: readonly Problem[]
  /** Whether the values can be read, and checked, in spite of the problems. */
  readonly readable: boolean
  /** The values as written, if they can be read. */
  readonly written?: unknown
}

/** Checks the YAML itself. */
export function checkSyntax(file: ConfigFile): CheckedSyntax {
  const errors: readonly YAMLError[] = [...file.document.errors, ...file.document.warnings]
  const { problems: aliases, written } = checkAliases(file)
  const found: readonly Found[] = [
    ...errors.map((error) => ({ at: error.pos, problem: unclosed(file, error) ?? toProblem(error) })),
    ...file.duplicates.map((at) => ({ at, problem: { span: at, message: DUPLICATE } })),
  ]
  return {
    problems: [...unquotedReferences(file), ...firstOfEachLine(file, found), ...aliases],
    readable: aliases.length === 0 && errors.length === 0,
    written,
  }
}

const DUPLICATE = 'duplicate key: this map already has it; remove one of the two'

/** A problem, and the place where it was noticed. */
interface Found {
  readonly at: Span
  readonly problem: Problem
}

/** One mistake often causes several errors on its line: only the first of them is useful. */
function firstOfEachLine(file: ConfigFile, found: readonly Found[]): readonly Problem[] {
  const lines = new Map(found.toReversed().map(({ at, problem }) => [file.position(at).line, problem]))
  return [...lines.values()]
}

function unquotedReferences({ text, unquoted }: ConfigFile): readonly Problem[] {
  const message = `inside { } and [ ], a reference needs quotes: "\${env:NAME}"`
  // A default may be a secret.
  return unquoted.map((span) => ({ span, message, hide: text.slice(...span).includes(':-') ? [span] : [] }))
}

/** The parser reports a `[` or `{` that is not closed where it misses the end. Undefined for any other error. */
function unclosed({ document, text }: ConfigFile, { pos, message }: YAMLError): Problem | undefined {
  if (!message.startsWith('Flow ')) return undefined
  let start: number | undefined
  visit(document, {
    Collection(_, { flow, range }) {
      if (flow && range && range[0] < pos[0] && !/[\]}]/.test(text[range[1] - 1]!)) start = range[0]
    },
  })
  if (start === undefined) return undefined
  const bracket = text[start]
  return { span: [start, start + 1], message: `not valid YAML: this "${bracket}" has no "${bracket === '[' ? ']' : '}'}"` }
}

function toProblem({ code, pos, message }: YAMLError): Problem {
  if (code === 'MULTIPLE_DOCS')
    return { span: pos, message: 'the file must be one YAML document; remove this line, or one of the documents around it' }
  return { span: pos, message: `not valid YAML: ${message}` }
}

/** Aliases without an anchor, aliases inside their own anchor, and aliases that expand to too many values. */
function checkAliases(file: ConfigFile): Pick<CheckedSyntax, 'problems' | 'written'> {
  const problems: Problem[] = []
  visit(file.document, {
    Alias(_, alias, above) {
      const anchored = alias.resolve(file.document)
      const [start = 0, end = 0] = alias.range ?? []
      const name = alias.source
      if (anchored === undefined)
        problems.push({ span: [start, end], message: `the alias "*${name}" has no anchor "&${name}" above it` })
      else if (above.includes(anchored))
        problems.push({
          span: [start, end],
          message: `the alias "*${name}" is inside its own anchor "&${name}"; remove one of them`,
        })
    },
  })
  if (problems.length > 0) return { problems }
  try {
    return { problems, written: file.toData() }
  } catch {
    const message = `the aliases in this file expand to more than ${MAX_ALIASES} values; use fewer`
    return { problems: [{ span: [0, 0], message }] }
  }
}
