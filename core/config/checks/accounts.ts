import { didYouMean } from '../../text/suggestions.ts'
import type { Problem } from '../file/config-file.ts'
import { formatPath, type Path } from '../file/path.ts'
import { asMap, type RawConfig } from '../file/raw-config.ts'
import { DEFAULT_ACCOUNT } from '../schema/default-account.ts'
import { isMisspelt } from './misspelt.ts'

/** Finds keys whose account is not in the file. Accounts of the database are not known here: only `default` always exists. */
export function findUnknownAccounts(raw: RawConfig): readonly Problem[] {
  if (isMisspelt(raw.values, 'accounts')) return []
  const { accounts, keys } = asMap(raw.values)
  const known = [...new Set([...Object.keys(asMap(accounts)), DEFAULT_ACCOUNT])]
  return Object.entries(asMap(keys)).flatMap(([index, key]) => {
    const { account } = asMap(key)
    const path: Path = ['keys', Number(index), 'account']
    if (typeof account !== 'string' || account === '' || known.includes(account) || raw.isUnset(path)) return []
    return [{ span: raw.file.valueSpan(path), message: `${formatPath(path)}: ${describe(account, known, raw, path)}` }]
  })
}

/** The value of a reference is a secret: the message must neither quote it nor suggest a similar name. */
function describe(account: string, known: readonly string[], raw: RawConfig, path: Path): string {
  if (raw.quotable(path) === undefined) return 'the value of the reference is not an account of this file'
  return `there is no account ${JSON.stringify(account)}${didYouMean(account, known) || '; declare it under "accounts"'}`
}
