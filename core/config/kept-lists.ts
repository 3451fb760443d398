import { hash } from 'node:crypto'
import { join } from 'node:path'
import type { ListsConfig } from './config.ts'
import type { FilesRead } from './file/files-read.ts'
import type { SourceName } from './schema/prices.ts'

/** The file in which the last good list of a source is kept. */
export const keptFile = (folder: string, name: SourceName): string => join(folder, `${name}.json`)

/** Reads the lists that are kept, and adds their files to `files`. Those that do not exist, or are not what routes.yaml pins, are left out. */
export async function readKept({ folder, sources }: ListsConfig, files: FilesRead): Promise<ListsConfig['kept']> {
  const kept: { [Name in SourceName]?: string } = {}
  for (const { name, sha256 } of sources) {
    const text = await files.read(keptFile(folder, name)).catch(() => undefined)
    if (text !== undefined && (sha256 === undefined || hash('sha256', text) === sha256)) kept[name] = text
  }
  return kept
}

/** Characters of a digest that name a version of a list. */
const VERSION_LENGTH = 8

/** The version of a list, by its text. */
export const versionOf = (text: string): string => hash('sha256', text).slice(0, VERSION_LENGTH)
