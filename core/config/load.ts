import { resolve } from 'node:path'
import { ConfigError, UnreadableConfig } from '../text/diagnostic.ts'
import { buildConfig } from './build.ts'
import { declaredNames, findUndeclared, installPlugins, placed } from './checks/plugins.ts'
import { toProblems } from './checks/schema-errors.ts'
import { checkNames, findDuplicates } from './checks/unknown-names.ts'
import type { Config, RouteConfig } from './config.ts'
import { type ConfigTree, digestsOf, treeOf } from './diff.ts'
import { ConfigFile, checkSyntax, toData } from './file/config-file.ts'
import { findUnset, type Reference, remedy, substitute } from './file/interpolate.ts'
import { RawConfig } from './file/raw-config.ts'
import { toDiagnostics } from './report.ts'
import { type Routes, routesSchema } from './schema/routes-yaml.ts'
import { validate } from './schema/validate.ts'
import { FilesRead } from './watch.ts'

/** A Config, and what its author should know though nothing is wrong. */
export interface LoadedConfig {
  readonly config: Config
  readonly notices: readonly string[]
  /** The file's text. It holds no secret: those are references. */
  readonly text: string
  readonly outline: ConfigTree
}

/**
 * Reads routes.yaml and all that it refers to: variables of `env`, files, plugins. Throws a `ConfigError` with everything that is
 * wrong, each with its place. No plugin is created yet. `files` is told of all that was read, whatever comes of it.
 */
export async function loadConfig(file: string, env: NodeJS.ProcessEnv, files = new FilesRead()): Promise<LoadedConfig> {
  const source = new ConfigFile(file, await readText(file, files))
  const syntax = checkSyntax(source)
  if (!syntax.readable) throw new ConfigError(toDiagnostics(source, syntax.problems))

  const { substitutions, problems } = await substitute(source, { env, files })
  const table = new RawConfig(source, toData(source), substitutions)
  const unset = findUnset(table)
  const { errors, mentions } = validate(routesSchema, table.values)
  const links = await installPlugins('chain', table, files)
  const providers = await installPlugins('provider', table, files)
  const allMentions = [...mentions.map((mention) => placed(mention, [])), ...links.mentions, ...providers.mentions]
  const diagnostics = toDiagnostics(source, [
    ...syntax.problems,
    ...problems,
    ...unset.problems,
    ...toProblems(errors, table),
    ...links.problems,
    ...providers.problems,
    ...checkNames(table),
    ...findDuplicates(table),
    ...findUndeclared(table, allMentions),
  ])
  if (diagnostics.length > 0) throw new ConfigError(diagnostics)
  const config = buildConfig({
    source,
    routes: table.values as Routes,
    links: links.installed,
    providers: providers.installed,
    dormant: unset.dormant,
    rateClasses: declaredNames(allMentions, 'rate class'),
  })
  const outline = treeOf(source.text, digestsOf(table))
  return { config, notices: notices(config, unset.dormant), text: source.text, outline }
}

async function readText(file: string, files: FilesRead): Promise<string> {
  try {
    return await files.read(resolve(file))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const message = code === 'ENOENT' ? 'there is no such file' : `the file cannot be read (${code})`
    throw new UnreadableConfig([{ file, line: 1, column: 1, message, frame: '' }])
  }
}

/** What is not wrong, and yet may not be meant. */
export function notices(config: Config, dormant: ReadonlyMap<string, readonly Reference[]>): readonly string[] {
  return [
    ...ofChain(config),
    ...[...dormant].map(([name, missing]) => `the namespace "${name}" is left out; to use it, ${remedy(missing)}`),
    ...[...config.curated.values()].flatMap(({ routes }) => [...routes.values()]).flatMap((route) => ofRoute(route, config)),
    ...config.keys
      .filter(({ expires = Number.POSITIVE_INFINITY }) => expires <= Date.now())
      .map(({ name }) => `the key "${name}" has expired; remove it, or let it end later`),
  ]
}

function ofChain({ chain }: Config): readonly string[] {
  const names = chain.map(({ plugin }) => plugin.name)
  if (!names.includes('auth'))
    return ['the chain has no "auth": every call is refused with 401 that none of its plugins identifies']
  const early = names.slice(0, names.indexOf('auth')).includes('rate-tagging')
  return early ? ['"rate-tagging" stands above "auth": it limits nobody, for nobody is identified yet; put it below'] : []
}

function ofRoute({ id, targets, fallbacks, retry }: RouteConfig, config: Config): readonly string[] {
  const members = [...targets, ...fallbacks]
  const asleep = members.filter(({ model }) => isAsleep(model, config))
  const single = retry.attempts === 1 && members.length > 1
  return [
    ...(single ? [`"${id}" makes one try: its other models serve only while those before them are set aside`] : []),
    ...(asleep.length === members.length
      ? [`"${id}" is left out: so are all the namespaces that it leads to`]
      : asleep.map(({ at }) => `"${id}" does without the model in line ${at.line}, whose namespace is left out`)),
  ]
}

/** Whether all that a model stands for is left out. */
function isAsleep(model: string, config: Config): boolean {
  const namespace = model.slice(0, model.indexOf('/'))
  const route = config.curated.get(namespace)?.routes.get(model.slice(namespace.length + 1))
  if (route === undefined) return config.namespaces.get(namespace)?.dormant !== undefined
  return [...route.targets, ...route.fallbacks].every((member) => isAsleep(member.model, config))
}
