import { resolve } from 'node:path'
import { yieldIfLong } from '../async/long-work.ts'
import { ConfigError, type Diagnostic, UnreadableConfig } from '../text/diagnostic.ts'
import { buildConfig } from './build.ts'
import { findCycles, findTooLarge } from './checks/curated-models.ts'
import { findDuplicates } from './checks/duplicates.ts'
import { checkExpectations } from './checks/expectations.ts'
import { findIneffectiveRules, findIneffectiveTimeouts } from './checks/ineffective.ts'
import { findLiteLlm } from './checks/litellm.ts'
import { ModelNames } from './checks/model-names.ts'
import { checkNamespaces } from './checks/namespaces.ts'
import { type ConfiguredPlugin, configurePlugins } from './checks/plugins.ts'
import { checkPrices } from './checks/prices.ts'
import { problemsOf } from './checks/schema-errors.ts'
import { checkSyntax } from './checks/syntax.ts'
import { namesOfTags } from './checks/tags.ts'
import { declaredNames, findUndeclaredNames, locateNames, namesOfKeys } from './checks/undeclared-names.ts'
import { findUnknownAccounts, findUnknownNames } from './checks/unknown-names.ts'
import { findUnsetReferences } from './checks/unset-references.ts'
import type { Config } from './config.ts'
import { ConfigFile, type Problem } from './file/config-file.ts'
import { FilesRead } from './file/files-read.ts'
import { substitute } from './file/interpolate.ts'
import type { Path } from './file/path.ts'
import { RawConfig } from './file/raw-config.ts'
import { readKept } from './kept-lists.ts'
import { toDiagnostics } from './report.ts'
import { routesSchema } from './schema/routes-yaml.ts'
import { validate } from './schema/validate.ts'

/** The checks of how the parts of a file fit together, which no schema can express. */
const CHECKS: readonly ((raw: RawConfig, names: ModelNames) => readonly Problem[])[] = [
  checkNamespaces,
  findUnknownNames,
  findUnknownAccounts,
  findDuplicates,
  findCycles,
  findTooLarge,
  findIneffectiveRules,
  findIneffectiveTimeouts,
  checkPrices,
  checkExpectations,
]

/** What routes.yaml says, valid or not. Its plugins are loaded, and not created. */
export interface ReadConfig {
  readonly file: ConfigFile
  /** All problems. */
  readonly diagnostics: readonly Diagnostic[]
  /** Absent if there are problems. */
  readonly config?: Config
  /** The plugins that can be created nevertheless, by the paths of their entries: they may have objections of their own. */
  readonly links: ReadonlyMap<Path, ConfiguredPlugin<'chain'>>
  readonly providers: ReadonlyMap<Path, ConfiguredPlugin<'provider'>>
}

/** Like `readConfig`, but throws a `ConfigError` with all problems. */
export async function loadConfig(path: string, env: NodeJS.ProcessEnv, files = new FilesRead()): Promise<Config> {
  const { config, diagnostics } = await readConfig(path, env, files)
  if (config === undefined) throw new ConfigError(diagnostics)
  return config
}

/**
 * Reads routes.yaml and everything it refers to: variables of `env`, files, plugins. ConfigFile → RawConfig → Config. Creates no plugin.
 * Adds all files that were read to `files`, also if it throws. Throws an `UnreadableConfig`.
 */
export async function readConfig(path: string, env: NodeJS.ProcessEnv, files: FilesRead): Promise<ReadConfig> {
  const file = await ConfigFile.read(path, await readText(path, files))
  const onlyWith = (found: readonly Problem[]): ReadConfig => ({
    file,
    diagnostics: toDiagnostics(file, found),
    links: new Map(),
    providers: new Map(),
  })
  const syntax = checkSyntax(file)
  if (!syntax.readable) return onlyWith(syntax.problems)
  await yieldIfLong()
  const { substitutions, problems } = await substitute(file, { env, files })
  await yieldIfLong()
  const raw = new RawConfig(file, substitutions)
  await yieldIfLong()
  const foreign = findLiteLlm(raw)
  if (foreign !== undefined) return onlyWith([foreign])
  const unset = findUnsetReferences(raw)
  await yieldIfLong()
  const validation = validate(routesSchema, raw.values)
  const links = await configurePlugins('chain', raw, files)
  const providers = await configurePlugins('provider', raw, files)
  const locatedNames = [
    ...locateNames(validation.names, []),
    ...namesOfKeys(raw),
    ...namesOfTags(raw),
    ...links.names,
    ...providers.names,
  ]
  const modelNames = new ModelNames(raw)
  const misfits: Problem[] = []
  for (const check of CHECKS) {
    await yieldIfLong()
    misfits.push(...check(raw, modelNames))
  }
  await yieldIfLong()
  const diagnostics = toDiagnostics(file, [
    ...syntax.problems,
    ...problems,
    ...unset.problems,
    ...problemsOf(validation, raw, []),
    ...links.problems,
    ...providers.problems,
    ...misfits,
    ...findUndeclaredNames(raw, locatedNames),
  ])
  const creatable = { links: links.creatable, providers: providers.creatable }
  if (diagnostics.length > 0) return { file, diagnostics, ...creatable }
  for (const secret of validation.secrets) secret.seal()
  await yieldIfLong()
  const built = buildConfig(raw, {
    links: links.plugins,
    providers: providers.plugins,
    dormant: unset.dormant,
    written: syntax.written,
    rateClasses: declaredNames(locatedNames, 'rate class'),
  })
  const { prices } = built
  const kept = await readKept(prices.lists, files)
  const config = { ...built, prices: { ...prices, lists: { ...prices.lists, kept } } }
  return { file, diagnostics, config, ...creatable }
}

async function readText(path: string, files: FilesRead): Promise<string> {
  try {
    return await files.read(resolve(path))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new UnreadableConfig(path, code === 'ENOENT' ? 'the file does not exist' : `the file cannot be read (${code})`)
  }
}
