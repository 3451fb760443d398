import { dirname, resolve } from 'node:path'
import { yieldIfLong } from '../../async/long-work.ts'
import { builtinNames, loadPlugin, PluginError, type PluginKind, type Plugins, pluginFiles } from '../../plugins/registry.ts'
import { nearest } from '../../text/suggestions.ts'
import type { Problem } from '../file/config-file.ts'
import type { FilesRead } from '../file/files-read.ts'
import { formatPath, type Path } from '../file/path.ts'
import { asMap, namespacesOf, type RawConfig } from '../file/raw-config.ts'
import { checkSchema, validate } from '../schema/validate.ts'
import { checkCredentials } from './credentials.ts'
import { problemsOf } from './schema-errors.ts'
import { type LocatedNames, locateNames } from './undeclared-names.ts'

/** A plugin and the config that it will be created with. */
export interface ConfiguredPlugin<Kind extends PluginKind> {
  readonly plugin: Plugins[Kind]
  /** Whether it comes with the gateway. */
  readonly isBuiltIn: boolean
  /** Defaults filled in, secrets sealed; of a namespace with several credentials, that of the first. */
  readonly config: unknown
  /** The configs of a namespace's credentials, by their names; absent: it has one, or none. */
  readonly credentials?: ReadonlyMap<string, unknown>
}

/** The plugins of a kind in a RawConfig. */
export interface ConfiguredPlugins<Kind extends PluginKind> {
  /** By index in the chain, or by namespace. */
  readonly plugins: ReadonlyMap<string, ConfiguredPlugin<Kind>>
  /** Those whose config has all its values and fits the schema, by the path of their entry: they can be created. */
  readonly creatable: ReadonlyMap<Path, ConfiguredPlugin<Kind>>
  readonly names: readonly LocatedNames[]
  readonly problems: readonly Problem[]
}

/** Where routes.yaml names the plugins of a kind. */
const SECTIONS = {
  chain: { section: 'chain', field: 'plugin' },
  provider: { section: 'namespaces', field: 'provider' },
} as const

/** Loads every plugin of a kind that a RawConfig names, and checks its `config` against its schema. */
export async function configurePlugins<Kind extends PluginKind>(
  kind: Kind,
  raw: RawConfig,
  files: FilesRead,
): Promise<ConfiguredPlugins<Kind>> {
  const baseDir = dirname(resolve(raw.file.name))
  const plugins = new Map<string, ConfiguredPlugin<Kind>>()
  const creatable = new Map<Path, ConfiguredPlugin<Kind>>()
  const names: LocatedNames[] = []
  const problems: Problem[] = []
  const entries = [...pluginEntries(kind, raw)]
  for (const name of new Set(entries.map((entry) => entry.name))) files.include(() => pluginFiles(name, baseDir))
  for (const entry of entries) {
    await yieldIfLong()
    try {
      const plugin = await loadPlugin(entry.name, kind, baseDir)
      const isBuiltIn = (await builtinNames(kind)).includes(entry.name)
      if (!isBuiltIn) checkSchema(plugin.schema)
      const checked = checkConfig(plugin, entry, raw)
      const configured = { plugin, isBuiltIn, ...checked.configs }
      plugins.set(entry.id, configured)
      const scalars = ['config', 'credentials'].flatMap((field) => [...raw.file.scalars([...entry.path, field])])
      const isFilled = scalars.every(([path]) => !raw.isUnset(path))
      if (isFilled && checked.problems.length === 0) creatable.set(entry.path, configured)
      names.push(...checked.names)
      problems.push(...checked.problems)
    } catch (error) {
      if (!(error instanceof PluginError)) throw error
      problems.push(unusable(error, entry, raw))
    }
  }
  return { plugins, creatable, names, problems }
}

/** A link or namespace that names a plugin. */
interface PluginEntry {
  /** The link's index in the chain, or the namespace's name. */
  readonly id: string
  readonly path: Path
  readonly namePath: Path
  /** The plugin's name. */
  readonly name: string
  readonly config: unknown
  /** Absent for a link. */
  readonly credentials?: unknown
}

function pluginEntries(kind: PluginKind, raw: RawConfig): readonly PluginEntry[] {
  const { section, field } = SECTIONS[kind]
  const all = kind === 'chain' ? asMap(asMap(raw.values).chain) : (namespacesOf(raw.values) ?? {})
  return Object.entries(all).flatMap(([id, entry]) => {
    const path: Path = [section, kind === 'chain' ? Number(id) : id]
    const namePath = [...path, field]
    const { [field]: name, config = {}, credentials, ...others } = asMap(entry)
    // The schema of routes.yaml reports a name that is not a string, and a misspelt `config` or `credentials`.
    const misspelt = Object.keys(others).some((other) => nearest(other, ['config', 'credentials']) !== undefined)
    if (typeof name !== 'string' || name === '' || misspelt || raw.isUnset(namePath)) return []
    return [{ id, path, namePath, name, config, ...(kind === 'provider' && { credentials }) }]
  })
}

function checkConfig({ schema }: Plugins[PluginKind], entry: PluginEntry, raw: RawConfig) {
  const { path, config, credentials } = entry
  if (Object.keys(asMap(credentials)).length > 0) {
    const { configs, names, problems } = checkCredentials(schema, { path, config, credentials }, raw)
    return { configs: { config: configs.values().next().value, credentials: configs }, names, problems }
  }
  const configPath = [...path, 'config']
  // A copy: two entries may share a config by an alias, and the defaults of each plugin are filled into its own.
  const own = structuredClone(config)
  const validation = validate(schema, own)
  for (const secret of validation.secrets) secret.seal()
  const names = locateNames(validation.names, configPath)
  return { configs: { config: own }, names, problems: problemsOf(validation, raw, configPath) }
}

/** The config cannot be checked, so no code frame may show it. `error` may quote the plugin's name, a secret if it is from a reference. */
function unusable({ message }: PluginError, { namePath, path }: PluginEntry, raw: RawConfig): Problem {
  const name = raw.quotable(namePath)
  const why =
    name === undefined
      ? 'the plugin that the reference names cannot be used; write its name here to see why'
      : `${JSON.stringify(name)} ${message}`
  return {
    span: raw.file.valueSpan(namePath),
    message: `${formatPath(namePath)}: ${why}`,
    hide: ['config', 'credentials'].flatMap((field) => raw.literals([...path, field])),
  }
}
