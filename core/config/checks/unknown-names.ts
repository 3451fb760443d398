import { didYouMean } from '../../text/suggestions.ts'
import type { Problem } from '../file/config-file.ts'
import { formatPath, type Path } from '../file/path.ts'
import { asMap, asStrings, type RawConfig } from '../file/raw-config.ts'
import { DEFAULT_ACCOUNT } from '../schema/default-account.ts'
import { isMisspelt } from './misspelt.ts'
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

/** Finds accounts of keys and links that are not in the file. Accounts of the database are not known here: only `default` always exists. */
export function findUnknownAccounts(raw: RawConfig): readonly Problem[] {
  if (isMisspelt(raw.values, 'accounts')) return []
  const { accounts, keys, chain } = asMap(raw.values)
  const known = [...new Set([...Object.keys(asMap(accounts)), DEFAULT_ACCOUNT])]
  const ofKeys = Object.entries(asMap(keys)).map(
    ([index, key]) => [['keys', Number(index), 'account'], asMap(key).account] as const,
  )
  // Accounts of the database have ids that begin with acc_.
  const ofLinks = Object.entries(asMap(chain)).flatMap(([index, link]) =>
    asStrings(asMap(asMap(link).when).accounts)
      .filter(([, account]) => !account.startsWith('acc_'))
      .map(([entry, account]) => [['chain', Number(index), 'when', 'accounts', entry], account] as const),
  )
  return [...ofKeys, ...ofLinks].flatMap(([path, account]) => {
    if (typeof account !== 'string' || account === '' || known.includes(account) || raw.isUnset(path)) return []
    return [{ span: raw.file.valueSpan(path), message: `${formatPath(path)}: ${describe(account, known, raw, path)}` }]
  })
}

/** The value of a reference is a secret: the message must neither quote it nor suggest a similar name. */
function describe(account: string, known: readonly string[], raw: RawConfig, path: Path): string {
  if (raw.quotable(path) === undefined) return 'the value of the reference is not an account of this file'
  return `there is no account ${JSON.stringify(account)}${didYouMean(account, known) || '; declare it under "accounts"'}`
}
