import { resolve } from 'node:path'
import { buildConfig } from './build.ts'
import { check } from './check/check.ts'
import { toProblems } from './check/findings.ts'
import { installPlugins } from './check/install.ts'
import { declaredNames, findUndeclared, placed } from './check/mentions.ts'
import { checkNames } from './check/names.ts'
import { findTwins } from './check/twins.ts'
import { findUnset } from './check/unset.ts'
import type { Config } from './config.ts'
import { ConfigError, UnreadableTable } from './diagnostic.ts'
import { digestsOf } from './digests.ts'
import { FilesRead } from './files-read.ts'
import { notices } from './notices.ts'
import { type Outline, outlineOf } from './outline.ts'
import { type Routes, routesSchema } from './schema.ts'
import { Table } from './table.ts'
import { toDiagnostics } from './text/report.ts'
import { Source } from './text/source.ts'
import { substitute } from './text/substitute.ts'
import { checkSyntax, toData } from './text/syntax.ts'

/** A Config, and what its author should know though nothing is wrong. */
export interface LoadedConfig {
  readonly config: Config
  readonly notices: readonly string[]
  /** The file's text. It holds no secret: those are references. */
  readonly text: string
  readonly outline: Outline
}

/**
 * Reads routes.yaml and all that it refers to: variables of `env`, files, plugins. Throws a `ConfigError` with everything that is
 * wrong, each with its place. No plugin is created yet. `files` is told of all that was read, whatever comes of it.
 */
export async function loadConfig(file: string, env: NodeJS.ProcessEnv, files = new FilesRead()): Promise<LoadedConfig> {
  const source = new Source(file, await readText(file, files))
  const syntax = checkSyntax(source)
  if (!syntax.readable) throw new ConfigError(toDiagnostics(source, syntax.problems))

  const { substitutions, problems } = await substitute(source, { env, files })
  const table = new Table(source, toData(source), substitutions)
  const unset = findUnset(table)
  const { errors, mentions } = check(routesSchema, table.data)
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
    ...findTwins(table),
    ...findUndeclared(table, allMentions),
  ])
  if (diagnostics.length > 0) throw new ConfigError(diagnostics)
  const config = buildConfig({
    source,
    routes: table.data as Routes,
    links: links.installed,
    providers: providers.installed,
    dormant: unset.dormant,
    rateClasses: declaredNames(allMentions, 'rate class'),
  })
  const outline = outlineOf(source.text, digestsOf(table))
  return { config, notices: notices(config, unset.dormant), text: source.text, outline }
}

async function readText(file: string, files: FilesRead): Promise<string> {
  try {
    return await files.read(resolve(file))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const message = code === 'ENOENT' ? 'there is no such file' : `the file cannot be read (${code})`
    throw new UnreadableTable([{ file, line: 1, column: 1, message, frame: '' }])
  }
}
