import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './paths.ts'
import { TYPES } from './types.ts'

/** What the package takes over from the repository's package.json. */
interface Manifest {
  readonly name: string
  readonly version: string
  readonly description: string
  readonly license: string
  readonly type: string
  readonly bin: Readonly<Record<string, string>>
  readonly devDependencies: Readonly<Record<string, string>>
  readonly peerDependencies: Readonly<Record<string, string>>
  readonly optionalDependencies: Readonly<Record<string, string>>
}

/** The package.json of the package. It depends on no package but the runtime that it brings for old machines. */
export function manifest(): object {
  const root = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Manifest
  const { name, version, description, license, type, bin, optionalDependencies } = root
  const [koa] = /^\d+/.exec(root.devDependencies['@types/koa']!)!
  const peerDependencies = { ...root.peerDependencies, '@types/koa': `^${koa}.0.0` }
  return {
    name,
    version,
    description,
    license,
    keywords: ['openai', 'llm', 'gateway', 'proxy', 'anthropic', 'router'],
    type,
    // Where the runtime of the optional dependencies is installed, the command runs on it.
    engines: { node: '>=20' },
    bin,
    exports: {
      './plugin': { types: `./${TYPES.plugin}`, default: './core/sdk/api.js' },
      './plugin/testing': { types: `./${TYPES.testing}`, default: './core/testing/kit.js' },
      './package.json': './package.json',
    },
    // Not the compile cache, which a gateway that ran from the folder has left there.
    files: ['console', 'core', 'deploy', 'docs', 'plugins', 'types', 'CHANGELOG.md', 'SECURITY.md', 'THIRD-PARTY.txt'],
    peerDependencies,
    peerDependenciesMeta: Object.fromEntries(Object.keys(peerDependencies).map((peer) => [peer, { optional: true }])),
    optionalDependencies,
  }
}
