import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdtemp, readFile, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, posix } from 'node:path'
import { type Plugin, rolldown } from 'rolldown'
import { dts } from 'rolldown-plugin-dts'
import { ROOT } from './paths.ts'

/** The declaration file of each export of package.json. */
export const TYPES = { plugin: 'types/plugin.d.ts', testing: 'types/testing.d.ts' }

/** What declarations take from where the package is installed. */
const EXTERNAL = /^(?:node:|(?:koa|openai)(?:\/|$)|\.\/typebox\/)/

const TYPEBOX = join(ROOT, 'node_modules/typebox/build')

/**
 * Writes the declarations of the plugin API and of its kit to a folder: of the modules behind them only what they export. They need no
 * other package than Koa's types.
 */
export async function declareTypes(target: string): Promise<void> {
  const emitted = await mkdtemp(join(tmpdir(), 'umg-types-'))
  try {
    await emit(emitted)
    await symlink(join(ROOT, 'node_modules'), join(emitted, 'node_modules'))
    const build = await rolldown({
      input: { plugin: join(emitted, 'core/sdk/api.d.ts'), testing: join(emitted, 'core/testing/kit.d.ts') },
      external: EXTERNAL,
      checks: { pluginTimings: false },
      plugins: [typeboxBeside, dts({ dtsInput: true, emitDtsOnly: true, generator: 'oxc', tsconfig: false })],
    })
    await build.write({ dir: target, format: 'esm', chunkFileNames: '[name].d.ts', minifyInternalExports: false })
    await build.close()
    await copyDeclarations('index.d.mts', join(target, 'typebox'))
    // Of Rolldown, for JavaScript: no declaration needs it.
    await rm(join(target, 'rolldown-runtime.d.ts'), { force: true })
  } finally {
    await rm(emitted, { recursive: true })
  }
}

/** Writes the declarations of all modules behind the API and its kit to a folder. */
async function emit(folder: string): Promise<void> {
  const compiler = join(ROOT, 'node_modules/typescript/bin/tsc')
  const project = join(ROOT, 'deploy/package/tsconfig.types.json')
  const args = [compiler, '--project', project, '--outDir', folder]
  const [code] = await once(spawn(process.execPath, args, { stdio: 'inherit' }), 'exit')
  if (code !== 0) throw new Error('the declarations of the plugin API do not compile')
}

/** TypeBox' declarations lie beside ours, as they are: bundlers rename what shadows, and break them. */
const typeboxBeside: Plugin = {
  name: 'typebox-beside',
  resolveId: { filter: { id: /^typebox$/ }, handler: () => ({ id: './typebox/index.mjs', external: true }) },
}

/** Copies a file of TypeBox' declarations, and those that it imports, to a folder. */
async function copyDeclarations(path: string, target: string, copied = new Set<string>()): Promise<void> {
  if (copied.has(path)) return
  copied.add(path)
  await cp(join(TYPEBOX, path), join(target, path))
  const text = await readFile(join(TYPEBOX, path), 'utf8')
  for (const [, imported] of text.matchAll(/(?:from |import\()['"](\.[^'"]+)\.mjs['"]/g)) {
    await copyDeclarations(`${posix.join(posix.dirname(path), imported!)}.d.mts`, target, copied)
  }
}
