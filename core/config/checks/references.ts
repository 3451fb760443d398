import type { Path, Problem } from '../file.ts'
import { asMap, asStrings } from '../raw-values.ts'
import type { RawConfig } from '../table.ts'
import { checkExpectations } from './expectations.ts'
import { findIneffectiveRules, findIneffectiveTimeouts } from './ineffective.ts'
import { where } from './messages.ts'
import { type DeadEnd, explainDeadEnd, ModelNames } from './model-names.ts'
import { checkNamespaces } from './namespaces.ts'
import { findCycles, findTooLarge } from './routes.ts'

/** What no schema can see: how the parts of the table belong together. */
export function checkNames(table: RawConfig): readonly Problem[] {
  const names = new ModelNames(table)
  return [checkReferences, findCycles, findTooLarge, findIneffectiveRules, findIneffectiveTimeouts, checkExpectations]
    .flatMap((find) => find(table, names))
    .concat(checkNamespaces(table))
}

/** Names in the table that lead nowhere: namespaces of links, and models of aliases, curated models and keys. */
export function checkReferences(table: RawConfig, names: ModelNames): readonly Problem[] {
  return [...lookUps(table, names)].flatMap(([path, dead]) =>
    dead === undefined || table.isUnset(path) ? [] : [complaint(table, path, dead)],
  )
}

/** Every name of the table, by its path, with what is wrong with it. */
function* lookUps({ data }: RawConfig, names: ModelNames): Iterable<readonly [Path, DeadEnd | undefined]> {
  const { chain, aliases, keys } = asMap(data)
  for (const [index, link] of Object.entries(asMap(chain))) {
    for (const [entry, name] of asStrings(asMap(asMap(link).when).namespaces))
      yield [['chain', Number(index), 'when', 'namespaces', entry], names.deadNamespace(name)]
  }
  for (const [alias, id] of Object.entries(asMap(aliases))) {
    // One without a slash is the schema's to refuse.
    if (typeof id === 'string' && id.includes('/')) yield [['aliases', alias], names.deadEnd(id)]
  }
  for (const { targets, fallbacks } of names.routes.values())
    for (const { path, name } of [...targets, ...fallbacks]) yield [path, names.deadEnd(name)]
  for (const [index, key] of Object.entries(asMap(keys))) {
    for (const [entry, glob] of asStrings(asMap(key).models))
      yield [['keys', Number(index), 'models', entry], names.deadGlob(glob)]
  }
}

/** What a `${…}` gave is a secret: it is neither quoted nor compared aloud. */
function complaint(table: RawConfig, path: Path, dead: DeadEnd): Problem {
  const said = table.quotable(path) === undefined ? `what the reference gives ${dead.fault}` : explainDeadEnd(dead)
  return { span: table.source.value(path), message: `${where(path)}: ${said}` }
}

/** Entries of `keys` that share what must be their own: usage is counted by name, a caller is found by hash. */
export function findDuplicates(table: RawConfig): readonly Problem[] {
  const keys = Object.values(asMap(asMap(table.data).keys)).map(asMap)
  return (['name', 'hash'] as const).flatMap((field) =>
    keys.flatMap((key, index) => {
      const path: Path = ['keys', index, field]
      const first = keys.findIndex((other) => other[field] === key[field])
      if (key[field] === undefined || first === index || table.isUnset(path)) return []
      return [
        { span: table.source.value(path), message: `${where(path)} is also that of keys[${first}]; each key needs its own` },
      ]
    }),
  )
}
