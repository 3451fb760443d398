import { globSync } from 'node:fs'
import { cp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Bundle, bundle } from './bundle.ts'
import { manifest } from './manifest.ts'
import { ROOT } from './paths.ts'

/** What is in the package as it is in the repository. */
export const COPIED = [
  'CHANGELOG.md',
  'LICENSE',
  'README.md',
  'SECURITY.md',
  'deploy/grafana/dashboards',
  'deploy/prometheus/umg.rules.yaml',
  'deploy/routes.yaml',
  'deploy/systemd',
  ...globSync('docs/{*.md,*.json,providers/*.md}', { cwd: ROOT, exclude: ['docs/soak.md'] }),
  'core/cli/project/template',
  'core/node-version.mjs',
  'core/pinned-node.mjs',
  'core/require-node.mjs',
  'core/umg.mjs',
  'core/unified-model-gateway.mjs',
]

/** Builds in a folder the command of the package, and what it reads but for the console. */
export async function buildCommand(folder: string): Promise<Bundle> {
  const built = await bundle(folder)
  for (const path of COPIED) await cp(join(ROOT, path), join(folder, path), { recursive: true })
  await replaceIn(join(folder, 'core/umg.mjs'), './main.ts', './main.js')
  await writeFile(join(folder, 'package.json'), `${JSON.stringify(manifest(), null, 2)}\n`)
  return built
}

async function replaceIn(file: string, text: string, replacement: string): Promise<void> {
  const before = await readFile(file, 'utf8')
  if (!before.includes(text)) throw new Error(`${file} does not contain ${text}`)
  await writeFile(file, before.replace(text, replacement))
}
