/** Builds the npm package in dist/: `npm pack ./dist` and `npm publish ./dist` take it from there. */

import { existsSync, globSync } from 'node:fs'
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { build as buildConsole } from 'vite'
import { bundle } from './bundle.ts'
import { manifest } from './manifest.ts'
import { thirdPartyNotices } from './notices.ts'
import { PACKAGE, ROOT } from './paths.ts'
import { declareTypes } from './types.ts'

/** What is in the package as it is in the repository. */
const COPIED = [
  'CHANGELOG.md',
  'LICENSE',
  'README.md',
  'routes.yaml',
  ...globSync('docs/{*.md,*.json,providers/*.md}', { cwd: ROOT }),
  'core/cli/project/template',
  'core/node-version.mjs',
  'core/pinned-node.mjs',
  'core/require-node.mjs',
  'core/umg.mjs',
  'core/unified-model-gateway.mjs',
]

await rm(PACKAGE, { recursive: true, force: true })
const [{ modules, files }, ofConsole] = await Promise.all([bundle(), bundleConsole(), declareTypes()])
for (const path of COPIED) await cp(join(ROOT, path), join(PACKAGE, path), { recursive: true })
await replaceIn('core/umg.mjs', './main.ts', './main.js')
await write('package.json', `${JSON.stringify(manifest(), null, 2)}\n`)
await write('THIRD-PARTY.txt', thirdPartyNotices([...modules, ...ofConsole]))
for (const path of files) {
  if (!existsSync(join(PACKAGE, path))) throw new Error(`the package has no ${path}, which its modules read`)
}

/** Builds the console. Returns its modules. */
async function bundleConsole(): Promise<readonly string[]> {
  const built = await buildConsole({
    configFile: join(ROOT, 'console/vite.config.ts'),
    logLevel: 'warn',
    build: { outDir: join(PACKAGE, 'console/dist'), emptyOutDir: true },
  })
  if (!('output' in built)) throw new Error('Vite built the console more than once')
  return built.output.flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []))
}

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(PACKAGE, path)), { recursive: true })
  await writeFile(join(PACKAGE, path), text)
}

async function replaceIn(path: string, text: string, replacement: string): Promise<void> {
  const file = join(PACKAGE, path)
  const before = await readFile(file, 'utf8')
  if (!before.includes(text)) throw new Error(`${path} does not contain ${text}`)
  await writeFile(file, before.replace(text, replacement))
}
