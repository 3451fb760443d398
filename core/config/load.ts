import { resolve } from 'node:path'
import { ConfigError, UnreadableConfig } from '../text/diagnostic.ts'
import { buildConfig } from './build.ts'
import { findUnknownAccounts } from './checks/accounts.ts'
import { findCycles, findTooLarge } from './checks/curated-models.ts'
import { findDuplicates } from './checks/duplicates.ts'
import { checkExpectations } from './checks/expectations.ts'
import { findIneffectiveRules, findIneffectiveTimeouts } from './checks/ineffective.ts'
import { ModelNames } from './checks/model-names.ts'
import { checkNamespaces } from './checks/namespaces.ts'
import { configurePlugins } from './checks/plugins.ts'
import { checkPrices } from './checks/prices.ts'
import { problemsOf } from './checks/schema-errors.ts'
import { checkSyntax } from './checks/syntax.ts'
import { declaredNames, findUndeclaredNames, locateNames } from './checks/undeclared-names.ts'
import { findUnknownNames } from './checks/unknown-names.ts'
import { findUnsetReferences } from './checks/unset-references.ts'
import type { Config } from './config.ts'
import { ConfigFile, type Problem } from './file/config-file.ts'
import { FilesRead } from './file/files-read.ts'
import { substitute } from './file/interpolate.ts'
import { RawConfig } from './file/raw-config.ts'
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

/**
 * Loads routes.yaml and everything it refers to: variables of `env`, files, plugins. ConfigFile → RawConfig → Config. Throws a
 * `ConfigError` with all problems, each with its position. Creates no plugin yet. Adds all files that were read to `files`, also if it
 * throws.
 */
export async function loadConfig(path: string, env: NodeJS.ProcessEnv, files = new FilesRead()): Promise<Config> {
  const file = new ConfigFile(path, await readText(path, files))
  const syntax = checkSyntax(file)
  if (!syntax.readable) throw new ConfigError(toDiagnostics(file, syntax.problems))

  const { substitutions, problems } = await substitute(file, { env, files })
  const raw = new RawConfig(file, substitutions)
  const unset = findUnsetReferences(raw)
  const validation = validate(routesSchema, raw.values)
  const links = await configurePlugins('chain', raw, files)
  const providers = await configurePlugins('provider', raw, files)
  const locatedNames = [...locateNames(validation.names, []), ...links.names, ...providers.names]
  const modelNames = new ModelNames(raw)
  const diagnostics = toDiagnostics(file, [
    ...syntax.problems,
    ...problems,
    ...unset.problems,
    ...problemsOf(validation, raw, []),
    ...links.problems,
    ...providers.problems,
    ...CHECKS.flatMap((check) => check(raw, modelNames)),
    ...findUndeclaredNames(raw, locatedNames),
  ])
  if (diagnostics.length > 0) throw new ConfigError(diagnostics)
  for (const secret of validation.secrets) secret.seal()
  return buildConfig(raw, {
    links: links.plugins,
    providers: providers.plugins,
    dormant: unset.dormant,
    rateClasses: declaredNames(locatedNames, 'rate class'),
  })
}

async function readText(path: string, files: FilesRead): Promise<string> {
  try {
    return await files.read(resolve(path))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const message = code === 'ENOENT' ? 'the file does not exist' : `the file cannot be read (${code})`
    throw new UnreadableConfig([{ file: path, line: 1, column: 1, message, frame: '' }])
  }
}
