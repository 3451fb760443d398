import { visit, type YAMLError } from 'yaml'
import type { Problem, Source } from './source.ts'

/** Bounds what aliases of aliases can grow into, far above what a table needs. */
const MAX_ALIASES = 10_000

/** The table as plain data, as its scalars stand now. Only of a source that `checkSyntax` found readable. */
export function toData(source: Source): unknown {
  return source.document.toJS({ maxAliasCount: MAX_ALIASES })
}

/** What the YAML itself has wrong. `readable`: the rest can be checked all the same. */
export function checkSyntax(source: Source): { readonly problems: readonly Problem[]; readonly readable: boolean } {
  const errors: readonly YAMLError[] = [...source.document.errors, ...source.document.warnings]
  const aliases = brokenAliases(source)
  return {
    problems: [...firstOfEachLine(source, errors).map((error) => explain(source, error)), ...aliases],
    readable: aliases.length === 0 && errors.every(({ code }) => code === 'DUPLICATE_KEY'),
  }
}

/** One slip makes the parser stumble several times: what follows on the same line says nothing new. */
function firstOfEachLine(source: Source, errors: readonly YAMLError[]): readonly YAMLError[] {
  const lines = new Map(errors.toReversed().map((error) => [source.position(error.pos).line, error]))
  return [...lines.values()]
}

function explain({ text }: Source, { code, pos, message }: YAMLError): Problem {
  if (code === 'DUPLICATE_KEY') return { span: pos, message: 'this key stands twice in its map; keep one of them' }
  if (code === 'MULTIPLE_DOCS')
    return { span: pos, message: 'a file holds one table; remove this line, or what stands on one side of it' }
  if (text.slice(0, pos[0]).endsWith('$')) return { span: pos, message: `inside { } and [ ] quote a reference: "\${env:NAME}"` }
  return { span: pos, message: `not valid YAML: ${message}` }
}

function brokenAliases(source: Source): readonly Problem[] {
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
