import { execFile } from 'node:child_process'
import { mkdir, readFile, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { readText } from '../../support/sources.ts'

export const ROOT = fileURLToPath(new URL('../../../', import.meta.url))

/** The folder that `npm create umg-plugin` copies from. */
export const TEMPLATES = join(ROOT, 'plugins/create-umg-plugin/templates')

/** `npm create umg-plugin` */
export const CREATE = join(ROOT, 'plugins/create-umg-plugin/create.mjs')

/** The TypeScript blocks of docs/plugins.md, by the file name in their first line. */
export const DOCUMENTED_FILES: Readonly<Record<string, string>> = Object.fromEntries(
  Array.from(readText('docs/plugins.md').matchAll(/^```ts\n\/\/ (\S+)\n([\s\S]*?)^```$/gm), ([, name, code]) => [name!, code!]),
)

/**
 * The environment of an author's commands: installed programs are on the PATH. The compile cache halves their start; coverage,
 * which they would inherit, slows them down.
 */
const ENVIRONMENT = {
  PATH: `${join(ROOT, 'node_modules/.bin')}:${dirname(process.execPath)}:${process.env.PATH}`,
  NODE_COMPILE_CACHE: join(tmpdir(), 'umg-test-compile-cache'),
  NODE_V8_COVERAGE: '',
}

interface RunOptions {
  readonly cwd?: string
  readonly env?: NodeJS.ProcessEnv
}

/** Runs a program as an author does. Resolves to its output. Throws an Error with `code`, `stdout` and `stderr` if it fails. */
export async function run(program: string, args: readonly string[], { cwd, env }: RunOptions = {}): Promise<string> {
  const options = { env: { ...ENVIRONMENT, ...env }, maxBuffer: 1 << 26, ...(cwd !== undefined && { cwd }) }
  return (await promisify(execFile)(program, args, options)).stdout
}

/** Creates a plugin named polly. Resolves to its folder. */
export async function createPlugin(folder: string, kind: 'provider' | 'chain'): Promise<string> {
  await run(process.execPath, [CREATE, kind, 'polly'], { cwd: folder })
  return join(folder, kind === 'provider' ? 'umg-provider-polly' : 'umg-plugin-polly')
}

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
