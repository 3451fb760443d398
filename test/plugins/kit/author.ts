import { mkdir, readFile, symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('../../../', import.meta.url))

/** The folder that `npm create umg-plugin` copies from. */
export const TEMPLATES = join(ROOT, 'plugins/create-umg-plugin/templates')

/** The environment of npm's scripts: installed commands are on the PATH. */
export const TOOLS = { PATH: `${join(ROOT, 'node_modules/.bin')}:${dirname(process.execPath)}:${process.env.PATH}` }

/** The devDependencies of a new plugin: version ranges by name. */
export async function devDependencies(): Promise<Readonly<Record<string, string>>> {
  return JSON.parse(await readFile(join(TEMPLATES, 'both/package.json'), 'utf8')).devDependencies
}

/** Links the devDependencies into a folder, as `npm install` would, but without a network. */
export async function install(folder: string): Promise<void> {
  for (const name of Object.keys(await devDependencies())) {
    const place = join(folder, 'node_modules', name)
    await mkdir(dirname(place), { recursive: true })
    await symlink(name === 'unified-model-gateway' ? ROOT : join(ROOT, 'node_modules', name), place)
  }
}
