import { dirname, resolve } from 'node:path'
import { pluginFiles } from '../plugins/registry.ts'
import { ConfigFile, type Path, toData } from './file/config-file.ts'
import type { RawConfig } from './file/raw-config.ts'
import { asMap } from './file/raw-config.ts'
import { digestOf } from './watch.ts'

/**
 * What became of a routing table, a line for each thing that was added (`+`), removed (`-`) or changed (`~`):
 * `~ namespace local: timeouts.connect: 10s → 2s`. No line shows what a reference led to.
 */
export function diffTrees(before: ConfigTree, after: ConfigTree): readonly string[] {
  return [...namesOf(before, after)].flatMap((part) => compare(part, before.get(part), after.get(part)))
}

function compare(path: string, before: Tree | undefined, after: Tree | undefined): readonly string[] {
  if (before === undefined || after === undefined) {
    const [sign, tree] = before === undefined ? ['+', after] : ['-', before]
    const shown = tree === undefined ? '' : show(tree)
    return [`${sign} ${path}${shown === '' ? '' : `: ${cut(shown)}`}`]
  }
  if (isBranch(before) && isBranch(after)) {
    const fields = [...namesOf(before, after)]
    return fields.flatMap((field) => compare(join(path, field), before.get(field), after.get(field)))
  }
  const [was, is] = [show(before), show(after)]
  if (was !== is) return [`~ ${path}: ${cut(was)} → ${cut(is)}`]
  const changed = !isBranch(before) && !isBranch(after) && before.fingerprint !== after.fingerprint
  return changed ? [`~ ${path}: ${cut(is)} has changed`] : []
}

/** In the order of the table before, then what is new. */
const namesOf = (before: ReadonlyMap<string, Tree>, after: ReadonlyMap<string, Tree>): ReadonlySet<string> =>
  new Set([...before.keys(), ...after.keys()])

/** `namespace local: timeouts.connect` */
function join(path: string, field: string): string {
  if (!path.includes(': ')) return `${path}: ${field}`
  return field.startsWith('[') ? path + field : `${path}.${field}`
}

/** In one line, as YAML could have it. */
function show(tree: Tree): string {
  if (!isBranch(tree)) return tree.written
  const fields = [...tree].map(([name, value]) => {
    const shown = show(value)
    return shown === '' ? name : `${name}: ${shown}`
  })
  return fields.length === 0 ? '' : `{ ${fields.join(', ')} }`
}

const LONGEST = 100

const cut = (text: string): string => (text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text)

/** A value as its author wrote it: of what leads elsewhere the text, and a digest of what was there. */
export interface Leaf {
  readonly written: string
  /** Empty where the text is all there is to know. */
  readonly fingerprint: string
}

/** A value, or fields by their names. */
export type Tree = Leaf | Branch

/** Fields by their names. Entries of a list are named by what they are: `[openai/gpt-5.5]`. */
export type Branch = ReadonlyMap<string, Tree>

/** A routing table by its parts, each called what people call it: `namespace openai`, `alias gpt-4o`. Holds no secret. */
export type ConfigTree = Branch

/** What an entry of a section is called. Any other section is one part. */
const PARTS: Readonly<Record<string, string>> = {
  chain: 'link',
  namespaces: 'namespace',
  aliases: 'alias',
  keys: 'key',
  expect: 'expectation',
}

/** The fields that say what an entry of a list is. */
const NAMES = ['plugin', 'model', 'name']

/** The outline of the text of a valid table: comments and defaults are no part of it. Without digests the text is all that counts. */
export function treeOf(text: string, digests: Digests = new Map()): ConfigTree {
  const outline = new Map<string, Tree>()
  const written = toData(new ConfigFile('routes.yaml', text))
  for (const [section, tree] of branchOf(written as object, [], digests)) {
    const part = PARTS[section]
    if (part === undefined || !isBranch(tree)) outline.set(section, tree)
    else for (const [name, entry] of tree) addPart(outline, `${part} ${bare(name)}`, entry)
    // A change of the order changes what calls meet first.
    if (section === 'chain' && isBranch(tree)) outline.set('chain', leaf([...tree.keys()].map(bare)))
  }
  return outline
}

/** Whether a value has fields. */
export const isBranch = (tree: Tree | undefined): tree is Branch => tree instanceof Map

/** Curated models are parts of their own. */
function addPart(outline: Map<string, Tree>, name: string, entry: Tree): void {
  const models = isBranch(entry) ? entry.get('models') : undefined
  if (!isBranch(entry) || !isBranch(models)) {
    outline.set(name, entry)
    return
  }
  outline.set(name, new Map([...entry].filter(([field]) => field !== 'models')))
  const [, namespace] = name.split(' ')
  for (const [model, route] of models) outline.set(`route ${namespace}/${model}`, route)
}

function nodeOf(value: unknown, path: Path, digests: Digests): Tree {
  if (!isObject(value)) return leaf(value, digests.get(keyOf(path)))
  if (!Array.isArray(value) || (value.length > 0 && value.every(isObject))) return branchOf(value, path, digests)
  return leaf(value, value.map((_, index) => digests.get(keyOf([...path, index])) ?? '').join(''))
}

function branchOf(value: object, path: Path, digests: Digests): Branch {
  const branch = new Map<string, Tree>()
  for (const [key, entry] of Object.entries(value)) {
    const name = Array.isArray(value) ? entryName(entry as object, key, branch) : key
    branch.set(name, nodeOf(entry, [...path, key], digests))
  }
  return branch
}

/** `[auth]`, and `[auth 2]` for the second one. */
function entryName(entry: object, index: string, before: Branch): string {
  const field = NAMES.find((name) => name in entry)
  const name = field === undefined ? index : String(entry[field as keyof typeof entry])
  const alike = [...before.keys()].filter((key) => key === `[${name}]` || key.startsWith(`[${name} `)).length
  return alike === 0 ? `[${name}]` : `[${name} ${alike + 1}]`
}

const bare = (name: string): string => name.replace(/^\[|\]$/g, '')

const leaf = (value: unknown, fingerprint = ''): Leaf => ({ written: asWritten(value), fingerprint })

function asWritten(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(asWritten).join(', ')}]`
  return typeof value === 'string' && /^[^\p{Cc}]+$/u.test(value) ? value : JSON.stringify(value)
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

/** By place, a digest of what a reference or a plugin's name led to: it tells whether that is still the same. */
export type Digests = ReadonlyMap<string, string>

/** The digests of a table whose references have been followed, and whose plugins have been loaded. */
export function digestsOf(table: RawConfig): Digests {
  const filled = [...table.references()].filter(([path, { references }]) => references.length > 0 && !table.isUnset(path))
  const values = filled.map(([path]) => [keyOf(path), digestOfText(String(table.file.scalar(path)?.value))] as const)
  return new Map([...values, ...digestsOfPlugins(table)])
}

/** Where a table names plugins. */
const PLUGINS = { chain: 'plugin', namespaces: 'provider' }

function* digestsOfPlugins({ values, file }: RawConfig): Iterable<readonly [string, string]> {
  const baseDir = dirname(resolve(file.name))
  for (const [section, field] of Object.entries(PLUGINS)) {
    for (const [key, entry] of Object.entries(asMap(asMap(values)[section]))) {
      const files = pluginFiles(String(asMap(entry)[field]), baseDir)
      if (files.size > 0) yield [keyOf([section, key, field]), digestOfText([...files.values()].join())]
    }
  }
}

const digestOfText = (text: string): string => digestOf(Buffer.from(text))

/** The key of a place. */
export const keyOf = (path: Path): string => JSON.stringify(path.map(String))
