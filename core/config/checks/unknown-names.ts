import type { Path, Problem } from '../file/config-file.ts'
import { asMap, asStrings, type RawConfig } from '../file/raw-config.ts'
import { checkExpectations } from './expectations.ts'
import { findIneffectiveRules, findIneffectiveTimeouts } from './ineffective-rules.ts'
import { formatPath } from './messages.ts'
import { explainUnknown, ModelNames, type UnknownName } from './model-names.ts'
import { checkNamespaces } from './namespaces.ts'
import { findCycles, findTooLarge } from './raw-routes.ts'

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
function* lookUps({ values }: RawConfig, names: ModelNames): Iterable<readonly [Path, UnknownName | undefined]> {
  const { chain, aliases, keys } = asMap(values)
  for (const [index, link] of Object.entries(asMap(chain))) {
    for (const [entry, name] of asStrings(asMap(asMap(link).when).namespaces))
      yield [['chain', Number(index), 'when', 'namespaces', entry], names.unknownNamespace(name)]
  }
  for (const [alias, id] of Object.entries(asMap(aliases))) {
    // One without a slash is the schema's to refuse.
    if (typeof id === 'string' && id.includes('/')) yield [['aliases', alias], names.unknownModel(id)]
  }
  for (const { targets, fallbacks } of names.routes.values())
    for (const { path, name } of [...targets, ...fallbacks]) yield [path, names.unknownModel(name)]
  for (const [index, key] of Object.entries(asMap(keys))) {
    for (const [entry, glob] of asStrings(asMap(key).models))
      yield [['keys', Number(index), 'models', entry], names.unknownGlob(glob)]
  }
}

/** What a `${…}` gave is a secret: it is neither quoted nor compared aloud. */
function complaint(table: RawConfig, path: Path, dead: UnknownName): Problem {
  const said = table.quotable(path) === undefined ? `what the reference gives ${dead.fault}` : explainUnknown(dead)
  return { span: table.file.valueSpan(path), message: `${formatPath(path)}: ${said}` }
}

/** Entries of `keys` that share what must be their own: usage is counted by name, a caller is found by hash. */
export function findDuplicates(table: RawConfig): readonly Problem[] {
  const keys = Object.values(asMap(asMap(table.values).keys)).map(asMap)
  return (['name', 'hash'] as const).flatMap((field) =>
    keys.flatMap((key, index) => {
      const path: Path = ['keys', index, field]
      const first = keys.findIndex((other) => other[field] === key[field])
      if (key[field] === undefined || first === index || table.isUnset(path)) return []
      return [
        {
          span: table.file.valueSpan(path),
          message: `${formatPath(path)} is also that of keys[${first}]; each key needs its own`,
        },
      ]
    }),
  )
}
