import { dirname, resolve } from 'node:path'
import { pluginFiles } from '../plugin/registry.ts'
import { digestOf } from './files-read.ts'
import { asMap } from './loose.ts'
import type { Table } from './table.ts'
import type { Path } from './text/source.ts'

/** By place, a digest of what a reference or a plugin's name led to: it tells whether that is still the same. */
export type Digests = ReadonlyMap<string, string>

/** The digests of a table whose references have been followed, and whose plugins have been loaded. */
export function digestsOf(table: Table): Digests {
  const filled = [...table.references()].filter(([path, { references }]) => references.length > 0 && !table.isUnset(path))
  const values = filled.map(([path]) => [keyOf(path), digestOfText(String(table.source.scalar(path)?.value))] as const)
  return new Map([...values, ...digestsOfPlugins(table)])
}

/** Where a table names plugins. */
const PLUGINS = { chain: 'plugin', namespaces: 'provider' }

function* digestsOfPlugins({ data, source }: Table): Iterable<readonly [string, string]> {
  const baseDir = dirname(resolve(source.file))
  for (const [section, field] of Object.entries(PLUGINS)) {
    for (const [key, entry] of Object.entries(asMap(asMap(data)[section]))) {
      const files = pluginFiles(String(asMap(entry)[field]), baseDir)
      if (files.size > 0) yield [keyOf([section, key, field]), digestOfText([...files.values()].join())]
    }
  }
}

const digestOfText = (text: string): string => digestOf(Buffer.from(text))

/** The key of a place. */
export const keyOf = (path: Path): string => JSON.stringify(path.map(String))
