import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { checkSyntax } from '../../config/checks/syntax.ts'
import { ConfigFile } from '../../config/file/config-file.ts'
import { asMap } from '../../config/file/raw-config.ts'
import { editorSchema } from '../../config/schema/editor-schema.ts'
import { builtinNames, loadPlugin, PluginError, type PluginKind, type Plugins } from '../../plugins/registry.ts'
import type { CommandIo } from '../output.ts'

/**
 * `umg schema`: prints the JSON Schema of routes.yaml with the configs of all built-in plugins, and of the plugins that a file names.
 * Resolves to the exit code: 0, or 2 if the file cannot be read.
 */
export async function schema(file: string | undefined, { stdout, stderr }: CommandIo): Promise<0 | 2> {
  const values = file === undefined ? {} : await readValues(file)
  if (values === undefined) {
    stderr.write(`${file} cannot be read as YAML; umg validate shows the errors\n`)
    return 2
  }
  const baseDir = dirname(resolve(file ?? 'routes.yaml'))
  const named = {
    chain: Object.values(asMap(values.chain)).map((link) => asMap(link).plugin),
    provider: Object.values(asMap(values.namespaces)).map((namespace) => asMap(namespace).provider),
  }
  async function load<Kind extends PluginKind>(kind: Kind): Promise<ReadonlyMap<string, Plugins[Kind]>> {
    const plugins = new Map<string, Plugins[Kind]>()
    const names = named[kind].filter((name) => typeof name === 'string')
    for (const name of new Set([...(await builtinNames(kind)), ...names])) {
      try {
        plugins.set(name, await loadPlugin(name, kind, baseDir))
      } catch (error) {
        if (!(error instanceof PluginError)) throw error
        stderr.write(`note: ${JSON.stringify(name)} ${error.message}\n`)
      }
    }
    return plugins
  }
  const plugins = { chain: await load('chain'), provider: await load('provider') }
  stdout.write(`${JSON.stringify(editorSchema(plugins), null, 2)}\n`)
  return 0
}

/** The values of a file, valid or not; undefined if it cannot be read as YAML. */
async function readValues(file: string): Promise<Readonly<Record<string, unknown>> | undefined> {
  try {
    const source = new ConfigFile(file, await readFile(file, 'utf8'))
    return checkSyntax(source).readable ? asMap(source.toData()) : undefined
  } catch {
    return undefined
  }
}
