import { mkdir, readFile, symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('../../../', import.meta.url))

/** What `npm create umg-plugin` copies. */
export const TEMPLATES = join(ROOT, 'plugins/create-umg-plugin/templates')

/** The environment of npm's scripts: what is installed is on the path. */
export const TOOLS = { PATH: `${join(ROOT, 'node_modules/.bin')}:${dirname(process.execPath)}:${process.env.PATH}` }

/** What a new plugin has installed, by name. */
export async function devDependencies(): Promise<Readonly<Record<string, string>>> {
  return JSON.parse(await readFile(join(TEMPLATES, 'both/package.json'), 'utf8')).devDependencies
}

/** Does without a network what npm install does, for all plugins in a folder. */
export async function install(folder: string): Promise<void> {
  for (const name of Object.keys(await devDependencies())) {
    const place = join(folder, 'node_modules', name)
    await mkdir(dirname(place), { recursive: true })
    await symlink(name === 'unified-model-gateway' ? ROOT : join(ROOT, 'node_modules', name), place)
  }
}
