import { readFileSync, realpathSync } from 'node:fs'
import { pathToFileURL } from 'node:url'

const versionIn = (manifest: URL): string => (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version

/** The version of the code of this process. Called when it has just been loaded: the package may be upgraded in its folder later. */
export const ownVersion = (): string => versionIn(new URL('../../package.json', import.meta.url))

/**
 * The version of the package whose command a new process would run: `command` is the path of one, in the folder `core`, and links in it may
 * lead elsewhere since this process has started.
 */
export const installedVersion = (command: string): string =>
  versionIn(new URL('../package.json', pathToFileURL(realpathSync(command))))
