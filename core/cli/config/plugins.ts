import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { checkSyntax } from '../../config/checks/syntax.ts'
import { ConfigFile } from '../../config/file/config-file.ts'
import { asMap } from '../../config/file/raw-config.ts'
import { builtinNames, loadPlugin, originOf, PluginError, type PluginKind } from '../../plugins/registry.ts'
import { type CommandIo, type JsonOption, type TableFormat, writeJson, writeTable } from '../output.ts'

/** A plugin that a routing table names, or could name because it is built in. */
interface ListedPlugin {
  readonly kind: PluginKind
  /** As routes.yaml writes it. */
  readonly name: string
  /** `built in`, the package with its version, or the path of the file. */
  readonly from: string
  /** The lines of routes.yaml that name it. */
  readonly lines: readonly number[]
  /** Why it cannot be used. */
  readonly error?: string
}

/**
 * `umg plugins list`: prints the built-in plugins, and those that a routing table names. Creates none of them. Resolves to the exit code:
 * 0, 1 if one of them cannot be loaded, 2 if the file cannot be read.
 */
export async function listPlugins(file: string, { json }: JsonOption, io: CommandIo): Promise<0 | 1 | 2> {
  const used = await readUses(file)
  if (used === undefined) {
    io.stderr.write(`${file} cannot be read as YAML; umg validate shows the errors\n`)
    return 2
  }
  const plugins: ListedPlugin[] = []
  for (const kind of ['chain', 'provider'] as const) {
    const names = new Set([...(await builtinNames(kind)), ...used[kind].keys()])
    for (const name of names) plugins.push(await list(name, kind, used[kind].get(name) ?? [], dirname(resolve(file))))
  }
  if (json) writeJson(plugins, io)
  else writeTable(plugins, TABLE, io)
  return plugins.some(({ error }) => error !== undefined) ? 1 : 0
}

const TABLE: TableFormat<ListedPlugin> = {
  columns: {
    KIND: ({ kind }) => kind,
    NAME: ({ name }) => name,
    FROM: ({ from, error }) => (error === undefined ? from : `cannot be used: it ${error}`),
    LINES: ({ lines }) => lines.join(', ') || '-',
  },
  empty: 'There are no plugins.',
}

async function list(name: string, kind: PluginKind, lines: readonly number[], baseDir: string): Promise<ListedPlugin> {
  try {
    await loadPlugin(name, kind, baseDir)
    return { kind, name, from: await originOf(name, kind, baseDir), lines }
  } catch (error) {
    if (!(error instanceof PluginError)) throw error
    return { kind, name, from: 'unknown', lines, error: error.message }
  }
}

type Uses = Readonly<Record<PluginKind, ReadonlyMap<string, readonly number[]>>>

/** The lines of a file, valid or not, that name plugins. A file that is not there names none; undefined if it cannot be read as YAML. */
async function readUses(file: string): Promise<Uses | undefined> {
  const text = await readFile(file, 'utf8').catch(({ code }: NodeJS.ErrnoException) => (code === 'ENOENT' ? '' : undefined))
  if (text === undefined) return undefined
  const source = new ConfigFile(file, text)
  if (text !== '' && !checkSyntax(source).readable) return undefined
  const { chain, namespaces } = asMap(source.toData())
  const usesIn = (section: string, entries: unknown, field: string) => {
    const named = Object.entries(asMap(entries)).flatMap(([id, entry]) => {
      const name = asMap(entry)[field]
      const path = [section, section === 'chain' ? Number(id) : id, field]
      return typeof name === 'string' && name !== '' ? [{ name, line: source.position(source.valueSpan(path)).line }] : []
    })
    const byName = Map.groupBy(named, ({ name }) => name)
    return new Map([...byName].map(([name, uses]) => [name, uses.map(({ line }) => line)]))
  }
  return { chain: usesIn('chain', chain, 'plugin'), provider: usesIn('namespaces', namespaces, 'provider') }
}
