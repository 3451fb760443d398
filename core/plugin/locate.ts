import { existsSync, statSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { registerHooks } from 'node:module'
import { extname, isAbsolute, join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { didYouMean } from '../suggest.ts'
import { PluginError } from './plugin-error.ts'

/** What a plugin may be. */
export type PluginKind = 'chain' | 'provider'

const FOLDERS: Readonly<Record<PluginKind, URL>> = {
  chain: new URL('../../plugins/chain/', import.meta.url),
  provider: new URL('../../plugins/providers/', import.meta.url),
}

/** What short npm names stand for: `foo` may be `unified-model-gateway-plugin-foo`. */
const PREFIXES: Readonly<Record<PluginKind, readonly string[]>> = {
  chain: ['unified-model-gateway-plugin-', 'umg-plugin-'],
  provider: ['unified-model-gateway-provider-', 'umg-provider-'],
}

const PACKAGE = /^(@[a-z0-9][\w.-]*\/)?[a-z0-9][\w.-]*(\/[\w./-]+)?$/i
const ENTRY = `index${extname(import.meta.url)}`

/**
 * The URL of the module that a plugin's name means: a path, a built-in, or an npm package, looked for from `baseDir` and then from
 * the gateway. Throws a `PluginError` where there is none.
 */
export async function locatePlugin(name: string, kind: PluginKind, baseDir: string): Promise<string> {
  if (isFile(name)) return locateFile(name, baseDir)
  const other = kind === 'chain' ? 'provider' : 'chain'
  // One of the other kind is found too: the check of kinds has better words for it than "not found".
  const url = (await locateBuiltin(name, kind)) ?? locatePackage(name, kind, baseDir) ?? (await locateBuiltin(name, other))
  if (url === undefined) throw new PluginError(await unknownName(name, kind))
  return url
}

/** Whether a plugin's name is that of a file: a path or a `file:` URL. */
export const isFile = (name: string): boolean => /^\.{1,2}\/|^file:/.test(name) || isAbsolute(name)

/** The names of the plugins that come with the gateway. */
export async function builtinNames(kind: PluginKind): Promise<readonly string[]> {
  const folder = fileURLToPath(FOLDERS[kind])
  const names = await readdir(folder)
  return names.filter((name) => existsSync(join(folder, name, ENTRY))).sort()
}

function locateFile(name: string, baseDir: string): string {
  const path = toPath(name, baseDir)
  const found = statSync(path, { throwIfNoEntry: false })
  if (!found) throw new PluginError(`is not there: ${path} does not exist; paths are relative to routes.yaml`)
  if (found.isDirectory()) throw new PluginError('is a folder: name the file in it')
  return pathToFileURL(path).href
}

/** The file that a plugin's name means, be it there or not. Throws a `PluginError` for a URL that means none. */
export function toPath(name: string, baseDir: string): string {
  if (!name.startsWith('file:')) return resolve(baseDir, name)
  try {
    return fileURLToPath(name)
  } catch (error) {
    throw new PluginError(`is no URL of a file here: ${(error as Error).message}`, { cause: error })
  }
}

async function locateBuiltin(name: string, kind: PluginKind): Promise<string | undefined> {
  const names = await builtinNames(kind)
  return names.includes(name) ? new URL(`${name}/${ENTRY}`, FOLDERS[kind]).href : undefined
}

function locatePackage(name: string, kind: PluginKind, baseDir: string): string | undefined {
  if (!PACKAGE.test(name)) return undefined
  const names = name.startsWith('@') ? [name] : [...PREFIXES[kind].map((prefix) => prefix + name), name]
  const parents = [pathToFileURL(join(baseDir, 'routes.yaml')).href, import.meta.url]
  for (const candidate of names) {
    for (const parent of parents) {
      const url = resolveFrom(candidate, parent)
      if (url !== undefined) return url
    }
  }
  return undefined
}

/** Resolves as `import` in the parent module would. `import.meta.resolve` takes no parent, but a hook may name another one. */
function resolveFrom(specifier: string, parent: string): string | undefined {
  const hooks = registerHooks({ resolve: (name, context, next) => next(name, { ...context, parentURL: parent }) })
  try {
    return import.meta.resolve(specifier)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_MODULE_NOT_FOUND') return undefined
    throw new PluginError(`cannot be imported: ${(error as Error).message}`, { cause: error })
  } finally {
    hooks.deregister()
  }
}

async function unknownName(name: string, kind: PluginKind): Promise<string> {
  const said = 'is neither built in nor an installed package'
  if (/\.[cm]?[jt]s$/.test(name)) return `${said}; a path begins with "./", so write "./${name}"`
  const names = await builtinNames(kind)
  return said + (didYouMean(name, names) || `; built in are ${names.join(', ')}; a package must be installed beside routes.yaml`)
}
