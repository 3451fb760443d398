import { didYouMean } from '../../text/suggestions.ts'
import type { Problem } from '../file/config-file.ts'
import { formatPath, type Path } from '../file/path.ts'
import { asMap, asStrings, type RawConfig } from '../file/raw-config.ts'
import { DEFAULT_ACCOUNT } from '../schema/default-account.ts'
import { isMisspelt } from './misspelt.ts'

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
