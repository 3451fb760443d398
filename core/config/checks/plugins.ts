import { dirname, resolve } from 'node:path'
import { loadPlugin, PluginError, type PluginKind, type Plugins, pluginFiles } from '../../plugins/registry.ts'
import { didYouMean, nearest } from '../../text/suggestions.ts'
import type { Path, Problem } from '../file/config-file.ts'
import type { RawConfig } from '../file/raw-config.ts'
import { asMap } from '../file/raw-config.ts'
import { type NameUse, type SecretField, validate } from '../schema/validate.ts'
import type { FilesRead } from '../watch.ts'
import { formatPath } from './messages.ts'
import { pathOfPointer, toProblems } from './schema-errors.ts'

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
  table: RawConfig,
  files: FilesRead,
): Promise<Installation<Kind>> {
  const baseDir = dirname(resolve(table.file.name))
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

function findPlaces(kind: PluginKind, table: RawConfig): readonly Place[] {
  const { section, field } = SECTIONS[kind]
  return Object.entries(asMap(asMap(table.values)[section])).flatMap(([id, entry]) => {
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

function fitConfig(plugin: Plugins[PluginKind], { config, configPath }: Place, table: RawConfig) {
  // A copy: two places may share one config by an alias, and each fills in its own plugin's defaults.
  const own = structuredClone(config)
  const { errors, secrets, mentions } = validate(plugin.schema, own)
  const given = sealSecrets(secrets, table, configPath)
  // Of a secret that stands in the file nothing else matters: it has to go.
  const faults = toProblems(errors, table, configPath).filter(({ span }) => !given.some((secret) => secret.span[0] === span[0]))
  return { config: own, mentions: mentions.map((mention) => placed(mention, configPath)), problems: [...given, ...faults] }
}

/** What the config cannot be checked for is not shown either. A name that a reference gave is a secret, and `error` may quote it. */
function cannotServe({ message }: PluginError, { namePath, configPath }: Place, table: RawConfig): Problem {
  const name = table.quotable(namePath)
  const said =
    name === undefined
      ? 'what the reference names cannot serve; write the name here to learn why'
      : `${JSON.stringify(name)} ${message}`
  return { span: table.file.valueSpan(namePath), message: `${formatPath(namePath)}: ${said}`, hide: table.literals(configPath) }
}

/** Seals what a schema calls secret, and tells of each that the file gives away. */
export function sealSecrets(secrets: readonly SecretField[], table: RawConfig, base: Path): readonly Problem[] {
  return secrets.flatMap((secret) => {
    secret.seal()
    const path = [...base, ...pathOfPointer(secret.pointer)]
    const hide = table.literals(path)
    return hide.length === 0 ? [] : [{ span: table.file.valueSpan(path), message: advice(path, table), hide }]
  })
}

function advice(path: Path, table: RawConfig): string {
  return table.substitution(path)
    ? `${formatPath(path)} is a secret: its default would stand here for all to read; write "\${env:NAME}" without one`
    : `${formatPath(path)} is a secret, which this file must not hold: write "\${env:NAME}" or "\${file:/path}"`
}

/** A mention at its place in the table. */
export interface PlacedMention extends Omit<NameUse, 'pointer'> {
  readonly path: Path
}

/** A mention of a value that stands at `base`. */
export const placed = ({ pointer, ...mention }: NameUse, base: Path): PlacedMention => ({
  ...mention,
  path: [...base, ...pathOfPointer(pointer)],
})

/** The names of a kind that are declared, each once. */
export const declaredNames = (mentions: readonly PlacedMention[], kind: string): readonly string[] => [
  ...new Set(mentions.filter((mention) => mention.declares && mention.kind === kind).flatMap(({ names }) => names)),
]

/** Names that nobody declares. Where no plugin declares any of a kind, some plugin may know them without saying so. */
export function findUndeclared(table: RawConfig, mentions: readonly PlacedMention[]): readonly Problem[] {
  const declared = Map.groupBy(
    mentions.filter(({ declares }) => declares),
    ({ kind }) => kind,
  )
  return mentions.flatMap(({ kind, path, declares, names: [name = ''] }) => {
    const known = declared.get(kind)?.flatMap(({ names }) => names)
    if (declares || known === undefined || known.includes(name) || table.isUnset(path)) return []
    const others = didYouMean(name, known) || `; declared ${known.length === 1 ? 'is' : 'are'} ${known.join(', ')}`
    // What a reference gave is a secret.
    const isGiven = table.quotable(path) === undefined
    const said = isGiven ? `what the reference gives is no ${kind}` : `${JSON.stringify(name)} is no ${kind}${others}`
    return [{ span: table.file.valueSpan(path), message: `${formatPath(path)}: ${said}` }]
  })
}
