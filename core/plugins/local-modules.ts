import { createHash } from 'node:crypto'
import { readFileSync, realpathSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { dirname, relative, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

/**
 * Modules in files of the operator's own, loaded again when they have changed. Node keeps a module under its URL until the process ends: a changed
 * one is imported under another URL, and a hook hands the query of that on to all it imports by relative paths. What was loaded
 * before stays in memory. CommonJS modules are left out: Node knows them by their paths alone.
 */

/** Paths of files, each with a digest of what it held; undefined: it was not there. */
export type FileDigests = ReadonlyMap<string, string | undefined>

interface LocalModule {
  readonly digest: string | undefined
  /** By the path that it asks for, the URL of what it got; undefined: nothing. */
  readonly imports: Map<string, string | undefined>
}

/** By URL, with its query. */
const modules = new Map<string, LocalModule>()

registerHooks({
  resolve(specifier, context, next) {
    const { parentURL = '' } = context
    const parent = modules.get(parentURL)
    if (parent === undefined || !/^\.{1,2}\//.test(specifier)) return next(specifier, context)
    const path = fileURLToPath(new URL(specifier, parentURL))
    parent.imports.set(path, undefined)
    const found = next(specifier, context)
    if (found.format === 'commonjs') return found
    const url = new URL(found.url)
    const load = new URL(parentURL).searchParams.get('load')
    if (load !== null) url.searchParams.set('load', load)
    parent.imports.set(path, url.href)
    know(url.href, path)
    return { ...found, url: url.href }
  },
})

/** What it holds is looked at before Node reads it: where that falls together with a change, it is loaded once too often, not once too seldom. */
function know(url: string, path: string): void {
  if (!modules.has(url)) modules.set(url, { digest: digestOf(path), imports: new Map() })
}

function digestOf(path: string): string | undefined {
  try {
    return createHash('sha256').update(readFileSync(path)).digest('hex')
  } catch {
    return undefined
  }
}

/** What the last import of a path met. */
interface Loaded {
  readonly url: string
  /** Where the file really lay: a mounted ConfigMap moves it, and its neighbours, at every change of any of them. */
  readonly folder: string
  /** Absent: it could not be loaded. */
  readonly module?: object
}

const lastLoaded = new Map<string, Loaded>()

let loads = 0

/**
 * The module in a file: the one of before where neither the file nor what it imports by relative paths has changed. Throws what the
 * import throws.
 */
export async function importLocal(path: string): Promise<object> {
  const { module } = lastLoaded.get(path) ?? {}
  if (module !== undefined && isCurrent(path)) return module
  const url = pathToFileURL(realpathSync(path)).href
  const loaded = await importFrom(path, modules.has(url) ? again(url) : url)
  // Someone else may have loaded, earlier, what they both import.
  return isCurrent(path) ? loaded : importFrom(path, again(url))
}

const again = (url: string): string => `${url}?load=${++loads}`

async function importFrom(path: string, url: string): Promise<object> {
  const folder = dirname(fileURLToPath(url))
  know(url, path)
  lastLoaded.set(path, { url, folder })
  const module: object = await import(url)
  lastLoaded.set(path, { url, folder, module })
  return module
}

const isCurrent = (path: string): boolean => [...filesOf(path)].every(([file, digest]) => digestOf(file) === digest)

/** The files that an imported module is made of, where they lie now; those too that were missing. */
export function filesOf(path: string): FileDigests {
  const files = new Map<string, string | undefined>([[path, undefined]])
  const loaded = lastLoaded.get(path)
  if (loaded === undefined) return files
  const folder = folderOf(path) ?? loaded.folder
  for (const [file, digest] of reachable(loaded.url, path)) {
    files.set(file === path ? path : resolve(folder, relative(loaded.folder, file)), digest)
  }
  return files
}

function folderOf(path: string): string | undefined {
  try {
    return dirname(realpathSync(path))
  } catch {
    return undefined
  }
}

/** The file of a URL, and all that it leads to. */
function reachable(url: string | undefined, path: string, met = new Map<string, string | undefined>()): FileDigests {
  if (met.has(path)) return met
  const module = url === undefined ? undefined : modules.get(url)
  met.set(path, module?.digest)
  for (const [imported, itsUrl] of module?.imports ?? []) reachable(itsUrl, imported, met)
  return met
}
