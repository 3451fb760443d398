import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type CommandIo, type JsonOption, writeJson } from '../output.ts'
import { dependencyOf } from './origin.ts'
import { starterRoutes } from './starter-routes.ts'

const TEMPLATE = fileURLToPath(new URL('./template/', import.meta.url))

/** Names under which npm would not publish a file, by those that it has in the template. */
const DOT_FILES: Readonly<Record<string, string>> = { gitignore: '.gitignore', 'env.example': '.env.example' }

interface InitOptions extends JsonOption {
  /** Of the gateway, which the project depends on. */
  readonly version: string
}

/** `umg init`: writes a project to a folder, except the files that are there. Resolves to the exit code. */
export async function init(folder: string, { version, json }: InitOptions, io: CommandIo): Promise<number> {
  const project = resolve(folder)
  const dependency = dependencyOf(project, version)
  const files = new Map([['routes.yaml', starterRoutes(project, { link: './plugins/log-usage.ts' })]])
  for (const [path, text] of await readTemplate()) {
    files.set(path, text.replaceAll('__name__', packageName(project)).replaceAll('__gateway__', dependency))
  }
  const written: string[] = []
  const kept: string[] = []
  for (const [path, text] of files) ((await writeNew(join(project, path), text)) ? written : kept).push(path)
  if (json) {
    writeJson({ folder: project, written, kept }, io)
    return 0
  }
  for (const path of written) io.stdout.write(`wrote ${path}\n`)
  for (const path of kept) io.stdout.write(`kept ${path}, which was there\n`)
  if (dependency.startsWith('file:') && written.includes('package.json'))
    io.stdout.write(
      `\npackage.json takes the gateway from ${dependency.slice('file:'.length)}, where this one is from: keep it there\n`,
    )
  const enter = project === process.cwd() ? '' : `  cd ${folder}\n`
  io.stdout.write(`\nContinue with\n\n${enter}  npm install\n  npm test\n  npm start\n`)
  return 0
}

/** The texts of the template by their paths in a project. */
async function readTemplate(): Promise<ReadonlyMap<string, string>> {
  const entries = await readdir(TEMPLATE, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  const read = files.map(async ({ parentPath, name }): Promise<[string, string]> => {
    const path = join(parentPath, name)
    return [join(parentPath, DOT_FILES[name] ?? name).slice(TEMPLATE.length), await readFile(path, 'utf8')]
  })
  return new Map((await Promise.all(read)).sort())
}

/** Writes a file if there is none. Resolves to whether it was written. */
async function writeNew(path: string, text: string): Promise<boolean> {
  await mkdir(dirname(path), { recursive: true })
  try {
    await writeFile(path, text, { flag: 'wx' })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

/** The name of a folder, as npm allows it for a package. */
const packageName = (folder: string): string =>
  basename(folder)
    .toLowerCase()
    .replace(/[^a-z\d-]+/g, '-')
    .replace(/^-+|-+$/g, '') || 'gateway'
