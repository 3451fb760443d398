/** Builds the npm package in dist/, or in the folder of the argument: `npm pack ./dist` and `npm publish ./dist` take it from there. */
import { existsSync, globSync } from 'node:fs'
import { cp, readFile, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { build as buildConsole } from 'vite'
import { bundle } from './bundle.ts'
import { manifest } from './manifest.ts'
import { thirdPartyNotices } from './notices.ts'
import { ROOT } from './paths.ts'
import { declareTypes } from './types.ts'

/** What is in the package as it is in the repository. */
const COPIED = [
  'CHANGELOG.md',
  'LICENSE',
  'README.md',
  'routes.yaml',
  ...globSync('docs/{*.md,*.json,providers/*.md}', { cwd: ROOT, exclude: ['docs/soak.md'] }),
  'core/cli/project/template',
  'core/node-version.mjs',
  'core/pinned-node.mjs',
  'core/require-node.mjs',
  'core/umg.mjs',
  'core/unified-model-gateway.mjs',
]

const PACKAGE = resolve(process.argv[2] ?? join(ROOT, 'dist'))

await rm(PACKAGE, { recursive: true, force: true })
const [{ modules, files }, ofConsole] = await Promise.all([
  bundle(PACKAGE),
  bundleConsole(),
  declareTypes(join(PACKAGE, 'types')),
])
for (const path of COPIED) await cp(join(ROOT, path), join(PACKAGE, path), { recursive: true })
await replaceIn('core/umg.mjs', './main.ts', './main.js')
await writeFile(join(PACKAGE, 'package.json'), `${JSON.stringify(manifest(), null, 2)}\n`)
await writeFile(join(PACKAGE, 'THIRD-PARTY.txt'), thirdPartyNotices([...modules, ...ofConsole]))
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

async function replaceIn(path: string, text: string, replacement: string): Promise<void> {
  const file = join(PACKAGE, path)
  const before = await readFile(file, 'utf8')
  if (!before.includes(text)) throw new Error(`${path} does not contain ${text}`)
  await writeFile(file, before.replace(text, replacement))
}
