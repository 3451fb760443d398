import { dirname, resolve } from 'node:path'
import type { PluginKind } from '../../plugin/locate.ts'
import { PluginError } from '../../plugin/plugin-error.ts'
import { loadPlugin, type Plugins, pluginFiles } from '../../plugin/registry.ts'
import { nearest } from '../../suggest.ts'
import type { FilesRead } from '../files-read.ts'
import { asMap } from '../loose.ts'
import type { Table } from '../table.ts'
import type { Path, Problem } from '../text/source.ts'
import { check } from './check.ts'
import { toProblems } from './findings.ts'
import { type PlacedMention, placed } from './mentions.ts'
import { sealSecrets } from './secrets.ts'
import { where } from './sentences.ts'

/** A plugin at its place in the table, with the config it will be created with. */
export interface Installed<Kind extends PluginKind> {
  readonly plugin: Plugins[Kind]
  /** Defaults filled in, secrets sealed. */
  readonly config: unknown
}

/** What came of the plugins of a kind, by the link's index or the namespace's name. */
export interface Installation<Kind extends PluginKind> {
  readonly installed: ReadonlyMap<string, Installed<Kind>>
  readonly mentions: readonly PlacedMention[]
  readonly problems: readonly Problem[]
}

/** Where the table names the plugins of a kind. */
const SECTIONS = {
  chain: { section: 'chain', field: 'plugin' },
  provider: { section: 'namespaces', field: 'provider' },
} as const

/** Loads every plugin of a kind that the table names, and holds the `config` beside it against its schema. */
export async function installPlugins<Kind extends PluginKind>(
  kind: Kind,
  table: Table,
  files: FilesRead,
): Promise<Installation<Kind>> {
  const baseDir = dirname(resolve(table.source.file))
  const installed = new Map<string, Installed<Kind>>()
  const mentions: PlacedMention[] = []
  const problems: Problem[] = []
  for (const place of findPlaces(kind, table)) {
    files.include(() => pluginFiles(place.name, baseDir))
    try {
      const plugin = await loadPlugin(place.name, kind, baseDir)
      const fitted = fitConfig(plugin, place, table)
      installed.set(place.id, { plugin, config: fitted.config })
      mentions.push(...fitted.mentions)
      problems.push(...fitted.problems)
    } catch (error) {
      if (!(error instanceof PluginError)) throw error
      problems.push(cannotServe(error, place, table))
    }
  }
  return { installed, mentions, problems }
}

interface Place {
  /** The link's index or the namespace's name. */
  readonly id: string
  readonly namePath: Path
  readonly configPath: Path
  /** The plugin's. */
  readonly name: string
  readonly config: unknown
}

function findPlaces(kind: PluginKind, table: Table): readonly Place[] {
  const { section, field } = SECTIONS[kind]
  return Object.entries(asMap(asMap(table.data)[section])).flatMap(([id, entry]) => {
    const path: Path = [section, kind === 'chain' ? Number(id) : id]
    const [namePath, configPath] = [
      [...path, field],
      [...path, 'config'],
    ]
    const { [field]: name, config = {}, ...others } = asMap(entry)
    // What the table's own schema refuses is left to it: a name that is none, a config under a misspelt name.
    const misspelt = Object.keys(others).some((other) => nearest(other, ['config']) !== undefined)
    if (typeof name !== 'string' || name === '' || misspelt || table.isUnset(namePath)) return []
    return [{ id, namePath, configPath, name, config }]
  })
}

function fitConfig(plugin: Plugins[PluginKind], { config, configPath }: Place, table: Table) {
  // A copy: two places may share one config by an alias, and each fills in its own plugin's defaults.
  const own = structuredClone(config)
  const { errors, secrets, mentions } = check(plugin.schema, own)
  const given = sealSecrets(secrets, table, configPath)
  // Of a secret that stands in the file nothing else matters: it has to go.
  const faults = toProblems(errors, table, configPath).filter(({ span }) => !given.some((secret) => secret.span[0] === span[0]))
  return { config: own, mentions: mentions.map((mention) => placed(mention, configPath)), problems: [...given, ...faults] }
}

/** What the config cannot be checked for is not shown either. A name that a reference gave is a secret, and `error` may quote it. */
function cannotServe({ message }: PluginError, { namePath, configPath }: Place, table: Table): Problem {
  const name = table.quotable(namePath)
  const said =
    name === undefined
      ? 'what the reference names cannot serve; write the name here to learn why'
      : `${JSON.stringify(name)} ${message}`
  return { span: table.source.value(namePath), message: `${where(namePath)}: ${said}`, hide: table.literals(configPath) }
}
