import { hash } from 'node:crypto'
import { dirname, resolve } from 'node:path'
import { pluginFiles } from '../plugins/registry.ts'
import type { Path } from './file/path.ts'
import { asMap, type RawConfig } from './file/raw-config.ts'

/** By `digestKey`, the digest of the value of a reference, or of the files of a plugin: a change there does not change routes.yaml. */
export type Digests = ReadonlyMap<string, string>

/** The key of a path in Digests. */
export const digestKey = (path: Path): string => JSON.stringify(path.map(String))

/** The digests of a RawConfig whose plugins have been loaded. */
export function digestsOf(raw: RawConfig): Digests {
  const filled = [...raw.references()].filter(([path, { references }]) => references.length > 0 && !raw.isUnset(path))
  const values = filled.map(([path]) => [digestKey(path), hash('sha256', String(raw.file.scalar(path)?.value))] as const)
  return new Map([...values, ...digestsOfPlugins(raw)])
}

/** The fields that name plugins, by section. */
const PLUGIN_FIELDS = { chain: 'plugin', namespaces: 'provider' }

/** What only gateways with the same values in the references of routes.yaml know. */
export class NamespaceSecrets {
  /** By the `digestKey` of a namespace's `config`, and of each of its `credentials`. */
  readonly #sections: ReadonlyMap<string, readonly (readonly [place: string, digest: string])[]>

  constructor(digests: Digests) {
    this.#sections = Map.groupBy(digests, ([place]) => sectionOf(JSON.parse(place)))
  }

  /** Of the `config` of a namespace; '' if it has no references. `credential`: with those of one of its `credentials` too. */
  of(namespace: string, credential?: string): string {
    const places: readonly Path[] = [['config'], ...(credential === undefined ? [] : [['credentials', credential]])]
    const own = places.flatMap((place) => this.#sections.get(digestKey(['namespaces', namespace, ...place])) ?? []).sort()
    return own.length === 0 ? '' : hash('sha256', JSON.stringify(own))
  }
}

const sectionOf = (path: Path): string => digestKey(path.slice(0, path[2] === 'credentials' ? 4 : 3))

function* digestsOfPlugins({ values, file }: RawConfig): Iterable<readonly [string, string]> {
  const baseDir = dirname(resolve(file.name))
  for (const [section, field] of Object.entries(PLUGIN_FIELDS)) {
    for (const [key, entry] of Object.entries(asMap(asMap(values)[section]))) {
      const files = pluginFiles(String(asMap(entry)[field]), baseDir)
      if (files.size > 0) yield [digestKey([section, key, field]), hash('sha256', [...files.values()].join())]
    }
  }
}
