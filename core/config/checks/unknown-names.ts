import type { Problem } from '../file/config-file.ts'
import { formatPath, type Path } from '../file/path.ts'
import { asMap, asStrings, type RawConfig } from '../file/raw-config.ts'
import { describeUnknown, type ModelNames, type UnknownName } from './model-names.ts'

/** Finds names of namespaces and models that do not exist: in links, aliases, curated models, accounts and keys. */
export function findUnknownNames(raw: RawConfig, names: ModelNames): readonly Problem[] {
  return [...resolveNames(raw, names)].flatMap(([path, unknown]) =>
    unknown === undefined || raw.isUnset(path) ? [] : [toProblem(raw, path, unknown)],
  )
}

/** The path of every name, and why it is unknown; undefined if it is known. */
function* resolveNames({ values }: RawConfig, names: ModelNames): Iterable<readonly [Path, UnknownName | undefined]> {
  const { chain, aliases, accounts, keys } = asMap(values)
  for (const [index, link] of Object.entries(asMap(chain))) {
    for (const [entry, name] of asStrings(asMap(asMap(link).when).namespaces))
      yield [['chain', Number(index), 'when', 'namespaces', entry], names.unknownNamespace(name)]
  }
  for (const [alias, id] of Object.entries(asMap(aliases))) {
    // The schema reports an id without a slash.
    if (typeof id === 'string' && id.includes('/')) yield [['aliases', alias], names.unknownModel(id)]
  }
  for (const { targets, fallbacks } of names.routes.values())
    for (const { path, name } of [...targets, ...fallbacks]) yield [path, names.unknownModel(name)]
  for (const [id, account] of Object.entries(asMap(accounts))) {
    for (const [entry, glob] of asStrings(asMap(account).models))
      yield [['accounts', id, 'models', entry], names.unknownGlob(glob)]
  }
  for (const [index, key] of Object.entries(asMap(keys))) {
    for (const [entry, glob] of asStrings(asMap(key).models))
      yield [['keys', Number(index), 'models', entry], names.unknownGlob(glob)]
  }
}

/** The value of a reference is a secret: the message must neither quote it nor suggest a similar name. */
function toProblem(raw: RawConfig, path: Path, unknown: UnknownName): Problem {
  const what = raw.quotable(path) === undefined ? `the value of the reference ${unknown.reason}` : describeUnknown(unknown)
  return { span: raw.file.valueSpan(path), message: `${formatPath(path)}: ${what}` }
}
