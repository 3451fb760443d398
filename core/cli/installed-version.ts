import { readFileSync } from 'node:fs'

/** The version of the package as it is installed now: it may have been upgraded since this process has started. */
export const installedVersion = (): string =>
  (JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string }).version
