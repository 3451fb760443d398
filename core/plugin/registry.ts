import { API_VERSION, type ChainPlugin, type ProviderPlugin } from './api.ts'
import { type FileDigests, filesOf, importLocal } from './local-modules.ts'
import { isFile, locatePlugin, type PluginKind, toPath } from './locate.ts'
import { PluginError } from './plugin-error.ts'
import './resolve-seam.ts'

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
  const url = await locatePlugin(name, kind, baseDir)
  const exported = await defaultOf(isFile(name) ? importLocal(toPath(name, baseDir)) : import(url))
  const fault = faultOf(exported, kind)
  if (fault !== undefined) throw new PluginError(fault)
  return exported as Plugins[Kind]
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
  if (plugin.kind !== 'chain' && plugin.kind !== 'provider') return `exports something that is no plugin: ${end}`
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
