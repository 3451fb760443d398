import { didYouMean } from '../../text/suggestions.ts'
import type { Problem } from '../file/config-file.ts'
import { formatPath, type Path, pathOfPointer } from '../file/path.ts'
import { asMap, type RawConfig } from '../file/raw-config.ts'
import type { NameUse } from '../schema/validate.ts'
import { isMisspelt } from './misspelt.ts'

/** Names that a value of the file declares, or one that it refers to, such as rate classes. */
export interface LocatedNames extends Omit<NameUse, 'pointer'> {
  readonly path: Path
}

/** Adds paths to the names used by the value at `base`. */
export function locateNames(names: readonly NameUse[], base: Path): readonly LocatedNames[] {
  return names.map(({ pointer, ...use }) => ({ ...use, path: [...base, ...pathOfPointer(pointer)] }))
}

/** The kind of names that plugins have for keys: `routes:NAME` for one of this file, an id for one of the database. */
const KEY = 'key of this file'

/** How ids of keys of the database begin. */
const STORED_KEY = 'key_'

/** The kind of names that tags of calls have. */
export const TAG = 'tag'

/**
 * The names of the keys of a file, for what refers to keys; none if they are not all known, because of a mistake that the schema reports,
 * or may not be shown, because they come from references.
 */
export function namesOfKeys(raw: RawConfig): readonly LocatedNames[] {
  const keys = Object.values(asMap(asMap(raw.values).keys)).map(asMap)
  const areKnown = keys.every(
    ({ name }, index) => typeof name === 'string' && raw.quotable(['keys', index, 'name']) !== undefined,
  )
  if (!areKnown || isMisspelt(raw.values, 'keys')) return []
  return [{ kind: KEY, path: ['keys'], declares: true, names: keys.map(({ name }) => `routes:${name}`) }]
}

/** The declared names of a kind, without duplicates. */
export function declaredNames(uses: readonly LocatedNames[], kind: string): readonly string[] {
  return [...new Set(uses.filter((use) => use.declares && use.kind === kind).flatMap(({ names }) => names))]
}

/** What to write for a name that is right, and that nothing of the file declares. */
const REMEDIES: Readonly<Record<string, (name: string) => string>> = {
  [KEY]: () => ` (those of the database are named by their ids, as umg keys list shows them: ${STORED_KEY}…)`,
  [TAG]: (name) => ` (if keys of the database have it, declare it under "tags" of rate-tagging, as ${name}: "{tag.${name}}")`,
}

/** Finds names that no plugin declares. If no plugin declares any name of a kind, its names are not checked: a plugin may know them. */
export function findUndeclaredNames(raw: RawConfig, uses: readonly LocatedNames[]): readonly Problem[] {
  const declared = Map.groupBy(
    uses.filter(({ declares }) => declares),
    ({ kind }) => kind,
  )
  return uses.flatMap(({ kind, path, declares, names: [name = ''] }) => {
    const known = declared.get(kind)?.flatMap(({ names }) => names)
    if (declares || known === undefined || known.includes(name) || raw.isUnset(path)) return []
    // Whether the database has a key is not known here.
    if (kind === KEY && name.startsWith(STORED_KEY)) return []
    const others = didYouMean(name, known) || (known.length > 0 ? `; declared: ${known.join(', ')}` : '; none is declared')
    // The value of a reference is a secret.
    const isReference = raw.quotable(path) === undefined
    const message = isReference
      ? `the value of the reference is not a ${kind}`
      : `${JSON.stringify(name)} is not a ${kind}${others}${REMEDIES[kind]?.(name) ?? ''}`
    return [{ span: raw.file.valueSpan(path), message: `${formatPath(path)}: ${message}` }]
  })
}
