import './resolve-plugin-api.ts'
import { existsSync, statSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { findPackageJSON, registerHooks } from 'node:module'
import { extname, isAbsolute, join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { API_VERSION, type ChainPlugin, type ProviderPlugin } from '../sdk/api.ts'
import { nearest } from '../text/suggestions.ts'
import { type FileDigests, filesOf, importLocal } from './local-modules.ts'

/** The plugins of each kind, as their modules export them. */
export interface Plugins {
  readonly chain: ChainPlugin
  readonly provider: ProviderPlugin
}

const DEFINE = { chain: 'defineChain', provider: 'defineProvider' } as const

/**
 * Loads the plugin that routes.yaml names: a built-in, an npm package installed beside the file or with the gateway, or a path
 * relative to the file. All must pass the same checks. Throws a `PluginError` that says why it cannot serve.
 */
export async function loadPlugin<Kind extends PluginKind>(name: string, kind: Kind, baseDir: string): Promise<Plugins[Kind]> {
  try {
    const url = await locatePlugin(name, kind, baseDir)
    const exported = await defaultOf(isFile(name) ? importLocal(toPath(name, baseDir)) : import(url))
    const fault = faultOf(exported, kind)
    if (fault !== undefined) throw new PluginError(fault)
    return exported as Plugins[Kind]
  } catch (error) {
    // A package may have the name of a vendor, such as its SDK, which is not a plugin.
    const meant = error instanceof PluginError && kind === 'provider' ? (await vendorNames()).get(name.toLowerCase()) : undefined
    throw meant === undefined ? error : new PluginError(meant, { cause: error })
  }
}

/** Names of vendors and their services that are not those of the providers which speak to them. */
const ALSO_KNOWN_AS: Readonly<Record<string, string>> = {
  aws: 'bedrock',
  azure: 'azure-openai',
  claude: 'anthropic',
  google: 'gemini',
  'google-ai': 'gemini',
  'vertex-ai': 'vertex',
}

/** What to write for the names of vendors that are presets, and for other names of built-in providers. */
async function vendorNames(): Promise<ReadonlyMap<string, string>> {
  const names = new Map(
    Object.entries(ALSO_KNOWN_AS).map(([name, provider]) => [name, `is not a provider; write "provider: ${provider}"`]),
  )
  for (const builtin of await builtinNames('provider')) {
    const { default: plugin } = (await import((await locateBuiltin(builtin, 'provider'))!)) as { default: ProviderPlugin }
    for (const preset of presetsOf(plugin))
      names.set(preset, `is a preset; write "provider: ${builtin}" and "config: { preset: ${preset}, … }"`)
  }
  return names
}

/** The values of the field `preset` of a provider's config; none if it has no such field. */
function presetsOf({ schema }: ProviderPlugin): readonly string[] {
  const { properties } = schema as { readonly properties?: { readonly preset?: { readonly enum?: readonly string[] } } }
  return properties?.preset?.enum ?? []
}

/** The files of the plugin that a name means, as they were when it was loaded; of a plugin that is installed, none. */
export function pluginFiles(name: string, baseDir: string): FileDigests {
  try {
    return isFile(name) ? filesOf(toPath(name, baseDir)) : new Map()
  } catch {
    // A URL that means no file: `loadPlugin` says so.
    return new Map()
  }
}

/** Where a plugin that can be loaded is from: `built in`, a package and its version, or the path of a file. */
export async function originOf(name: string, kind: PluginKind, baseDir: string): Promise<string> {
  if (isFile(name)) return toPath(name, baseDir)
  if ((await builtinNames(kind)).includes(name)) return 'built in'
  const path = fileURLToPath(await locatePlugin(name, kind, baseDir))
  const manifest = findPackageJSON(pathToFileURL(path))
  if (manifest === undefined) return path
  const { name: of, version } = JSON.parse(await readFile(manifest, 'utf8')) as Readonly<Record<string, unknown>>
  return `package ${of}@${version}`
}

async function defaultOf(importing: Promise<{ readonly default?: unknown }>): Promise<unknown> {
  try {
    return (await importing).default
  } catch (error) {
    throw new PluginError(`could not be loaded: ${reason(error)}`, { cause: error })
  }
}

/** The plugin's code is a stranger's: what it exports may be anything. */
function faultOf(exported: unknown, kind: PluginKind): string | undefined {
  const end = `end its module with "export default ${DEFINE[kind]}({…})"`
  if (typeof exported !== 'object' || exported === null) return `exports no plugin: ${end}`
  const plugin = exported as Readonly<Record<string, unknown>>
  if (plugin.kind !== 'chain' && plugin.kind !== 'provider') return `exports something that is not a plugin: ${end}`
  if (plugin.kind !== kind) return MISPLACED[kind]
  if (plugin.apiVersion !== API_VERSION) return wrongVersion(plugin.apiVersion)
  if (typeof plugin.name !== 'string' || plugin.name === '') return 'has no name: give its definition one'
  if (typeof plugin.schema !== 'object' || plugin.schema === null)
    return 'has no schema: give its definition one, at least Type.Object({})'
  if (typeof plugin.create !== 'function') return 'has no function "create": give its definition one'
  return undefined
}

const MISPLACED = {
  chain: 'is a provider: name it under "namespaces", not in the chain',
  provider: 'is a chain plugin: name it in the chain, not under "namespaces"',
} as const

function wrongVersion(version: unknown): string {
  if (typeof version !== 'number')
    return `does not say which plugin API it is made for: give its definition "apiVersion: ${API_VERSION}"`
  const remedy = version > API_VERSION ? 'update the gateway' : 'update the plugin'
  return `is made for version ${version} of the plugin API, but this gateway speaks version ${API_VERSION}: install a release of the plugin made for version ${API_VERSION}, or ${remedy}`
}

/** One line: what went wrong, and for a slip of syntax in which line. */
function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const place = error instanceof SyntaxError ? /^(?:file:\/\/)?(\/.+:\d+)\n/.exec(error.stack ?? '')?.[1] : undefined
  const [line] = error.message.split('\n')
  return place === undefined ? `${line}` : `${line} (${place})`
}

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
 * the gateway. Throws a `PluginError` if none is found.
 */
async function locatePlugin(name: string, kind: PluginKind, baseDir: string): Promise<string> {
  if (isFile(name)) return locateFile(name, baseDir)
  const other = kind === 'chain' ? 'provider' : 'chain'
  // A plugin of the other kind is found too: the check of kinds reports it better than "not found".
  const url = (await locateBuiltin(name, kind)) ?? locatePackage(name, kind, baseDir) ?? (await locateBuiltin(name, other))
  if (url === undefined) throw new PluginError(await unknownName(name, kind))
  return url
}

/** Whether a plugin's name is that of a file: a path or a `file:` URL. */
const isFile = (name: string): boolean => /^\.{1,2}\/|^file:/.test(name) || isAbsolute(name)

const builtins = new Map<PluginKind, Promise<readonly string[]>>()

/** The names of the plugins that come with the gateway. The folder is read once: a table may name hundreds of them. */
export function builtinNames(kind: PluginKind): Promise<readonly string[]> {
  const names = builtins.get(kind) ?? readBuiltins(fileURLToPath(FOLDERS[kind]))
  builtins.set(kind, names)
  return names
}

async function readBuiltins(folder: string): Promise<readonly string[]> {
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
function toPath(name: string, baseDir: string): string {
  if (!name.startsWith('file:')) return resolve(baseDir, name)
  try {
    return fileURLToPath(name)
  } catch (error) {
    throw new PluginError(`is not the URL of a file here: ${(error as Error).message}`, { cause: error })
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
  const vendors: ReadonlyMap<string, string> = kind === 'provider' ? await vendorNames() : new Map()
  const near = nearest(name, [...names, ...vendors.keys()])
  if (near === undefined) return `${said}; built in are ${names.join(', ')}; a package must be installed beside routes.yaml`
  const meant = names.includes(near) ? '' : ` It ${vendors.get(near)}`
  return `${said}; did you mean "${near}"?${meant}`
}

/** Why a plugin that routes.yaml names cannot serve. The message continues a sentence that begins with the plugin's name. */
export class PluginError extends Error {
  override readonly name = 'PluginError'
}
