import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { build as buildConsole } from 'vite'
import { buildCommand } from './command.ts'
import { thirdPartyNotices } from './notices.ts'
import { ROOT } from './paths.ts'

/** Builds in a folder all of the package that a gateway needs to run: everything but the declarations of types. */
export async function buildRuntime(folder: string): Promise<void> {
  const [{ modules, files }, ofConsole] = await Promise.all([buildCommand(folder), bundleConsole(join(folder, 'console/dist'))])
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
