import { existsSync, globSync } from 'node:fs'
import { cp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { build as buildConsole } from 'vite'
import { bundle } from './bundle.ts'
import { manifest } from './manifest.ts'
import { thirdPartyNotices } from './notices.ts'
import { ROOT } from './paths.ts'

/** What is in the package as it is in the repository. */
export const COPIED = [
  'CHANGELOG.md',
  'LICENSE',
  'README.md',
  'SECURITY.md',
  'routes.yaml',
  'deploy/grafana/dashboards',
  'deploy/prometheus/umg.rules.yaml',
  'deploy/systemd',
  ...globSync('docs/{*.md,*.json,providers/*.md}', { cwd: ROOT, exclude: ['docs/soak.md'] }),
  'core/cli/project/template',
  'core/node-version.mjs',
  'core/pinned-node.mjs',
  'core/require-node.mjs',
  'core/umg.mjs',
  'core/unified-model-gateway.mjs',
]

/** Builds in a folder all of the package that a gateway needs to run: everything but the declarations of types. */
export async function buildRuntime(folder: string): Promise<void> {
  const [{ modules, files }, ofConsole] = await Promise.all([bundle(folder), bundleConsole(join(folder, 'console/dist'))])
  for (const path of COPIED) await cp(join(ROOT, path), join(folder, path), { recursive: true })
  await replaceIn(join(folder, 'core/umg.mjs'), './main.ts', './main.js')
  await writeFile(join(folder, 'package.json'), `${JSON.stringify(manifest(), null, 2)}\n`)
  await writeFile(join(folder, 'THIRD-PARTY.txt'), thirdPartyNotices([...modules, ...ofConsole]))
  for (const path of files) {
    if (!existsSync(join(folder, path))) throw new Error(`the package has no ${path}, which its modules read`)
  }
}

/** Builds the console. Returns its modules. */
async function bundleConsole(folder: string): Promise<readonly string[]> {
  const built = await buildConsole({
    configFile: join(ROOT, 'console/vite.config.ts'),
    logLevel: 'warn',
    build: { outDir: folder, emptyOutDir: true },
  })
  if (!('output' in built)) throw new Error('Vite built the console more than once')
  return built.output.flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []))
}

async function replaceIn(file: string, text: string, replacement: string): Promise<void> {
  const before = await readFile(file, 'utf8')
  if (!before.includes(text)) throw new Error(`${file} does not contain ${text}`)
  await writeFile(file, before.replace(text, replacement))
}
