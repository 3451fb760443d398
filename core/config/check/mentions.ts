import { didYouMean } from '../../suggest.ts'
import type { Table } from '../table.ts'
import type { Path, Problem } from '../text/source.ts'
import type { Mention } from './check.ts'
import { segments } from './findings.ts'
import { where } from './sentences.ts'

/** A mention at its place in the table. */
export interface PlacedMention extends Omit<Mention, 'pointer'> {
  readonly path: Path
}

/** A mention of a value that stands at `base`. */
export const placed = ({ pointer, ...mention }: Mention, base: Path): PlacedMention => ({
  ...mention,
  path: [...base, ...segments(pointer)],
})

/** The names of a kind that are declared, each once. */
export const declaredNames = (mentions: readonly PlacedMention[], kind: string): readonly string[] => [
  ...new Set(mentions.filter((mention) => mention.declares && mention.kind === kind).flatMap(({ names }) => names)),
]

/** Names that nobody declares. Where no plugin declares any of a kind, some plugin may know them without saying so. */
export function findUndeclared(table: Table, mentions: readonly PlacedMention[]): readonly Problem[] {
  const declared = Map.groupBy(
    mentions.filter(({ declares }) => declares),
    ({ kind }) => kind,
  )
  return mentions.flatMap(({ kind, path, declares, names: [name = ''] }) => {
    const known = declared.get(kind)?.flatMap(({ names }) => names)
    if (declares || known === undefined || known.includes(name) || table.isUnset(path)) return []
    const others = didYouMean(name, known) || `; declared ${known.length === 1 ? 'is' : 'are'} ${known.join(', ')}`
    // What a reference gave is a secret.
    const isGiven = table.quotable(path) === undefined
    const said = isGiven ? `what the reference gives is no ${kind}` : `${JSON.stringify(name)} is no ${kind}${others}`
    return [{ span: table.source.value(path), message: `${where(path)}: ${said}` }]
  })
}
