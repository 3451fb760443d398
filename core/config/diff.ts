import type { Config } from './config.ts'
import { type Digests, digestKey } from './digests.ts'
import { ConfigFile } from './file/config-file.ts'
import type { Path } from './file/path.ts'
import { versionOf } from './kept-lists.ts'
import { SOURCES, type SourceName } from './schema/prices.ts'

/**
 * The differences between two Configs, a line for each value that was added (`+`), removed (`-`) or changed (`~`):
 * `~ namespace local: timeouts.connect: 10s → 2s`. Shows references and not their values.
 */
export function diffConfigs(before: Config, after: Config): readonly string[] {
  return [...diffTrees(treeOf(before.written, before.digests), treeOf(after.written, after.digests)), ...diffLists(before, after)]
}

/** `~ list prices of litellm: 3f9a12bc → 8943af58` */
function diffLists({ prices: before }: Config, { prices: after }: Config): readonly string[] {
  return (Object.keys(SOURCES) as SourceName[]).flatMap((name) => {
    const [was, is] = [before, after].map(({ lists }) => lists.kept[name])
    if (was === is) return []
    const [old, now] = [was, is].map((text) => (text === undefined ? 'none' : versionOf(text)))
    return [`~ list prices of ${name}: ${old} → ${now}`]
  })
}

/** The differences between the texts of two valid files. References are compared by their text. */
export function diffTexts(before: string, after: string): readonly string[] {
  const [was, is] = [before, after].map((text) => treeOf(new ConfigFile('routes.yaml', text).toData(), new Map()))
  return diffTrees(was!, is!)
}

/** A value as written in the file. */
interface Leaf {
  readonly written: string
  /** The digest of what it refers to; empty if it is not a reference. */
  readonly fingerprint: string
}

type Tree = Leaf | Branch

/** Fields by name. Entries of a list are named by their content: `[openai/gpt-5.5]`. */
type Branch = ReadonlyMap<string, Tree>

const isBranch = (tree: Tree | undefined): tree is Branch => tree instanceof Map

function diffTrees(before: Branch, after: Branch): readonly string[] {
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
  const hasChanged = !isBranch(before) && !isBranch(after) && before.fingerprint !== after.fingerprint
  return hasChanged ? [`~ ${path}: ${cut(is)} has changed`] : []
}

/** In the order of `before`; new names last. */
const namesOf = (before: Branch, after: Branch): ReadonlySet<string> => new Set([...before.keys(), ...after.keys()])

/** `namespace local: timeouts.connect` */
function join(path: string, field: string): string {
  if (!path.includes(': ')) return `${path}: ${field}`
  return field.startsWith('[') ? path + field : `${path}.${field}`
}

/** On one line, in the style of YAML. */
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

/** The name of one entry of a section. Any other section is shown as a whole. */
const ENTRIES: Readonly<Record<string, string>> = {
  chain: 'link',
  namespaces: 'namespace',
  aliases: 'alias',
  accounts: 'account',
  keys: 'key',
  expect: 'expectation',
}

/** The values of a file, by names that people use: `namespace openai`, `alias gpt-4o`. Comments and defaults are left out. */
function treeOf(written: unknown, digests: Digests): Branch {
  const tree = new Map<string, Tree>()
  for (const [section, value] of branchOf(written as object, [], digests)) {
    const entry = ENTRIES[section]
    if (entry === undefined || !isBranch(value)) tree.set(section, value)
    else for (const [name, each] of value) addEntry(tree, `${entry} ${withoutBrackets(name)}`, each)
    // The order of the chain matters.
    if (section === 'chain' && isBranch(value)) tree.set('chain', leaf([...value.keys()].map(withoutBrackets)))
  }
  return tree
}

/** Curated models become entries of their own. */
function addEntry(tree: Map<string, Tree>, name: string, entry: Tree): void {
  const models = isBranch(entry) ? entry.get('models') : undefined
  if (!isBranch(entry) || !isBranch(models)) {
    tree.set(name, entry)
    return
  }
  tree.set(name, new Map([...entry].filter(([field]) => field !== 'models')))
  const [, namespace] = name.split(' ')
  for (const [model, route] of models) tree.set(`route ${namespace}/${model}`, route)
}

function nodeOf(value: unknown, path: Path, digests: Digests): Tree {
  if (!isObject(value)) return leaf(value, digests.get(digestKey(path)))
  if (!Array.isArray(value) || (value.length > 0 && value.every(isObject))) return branchOf(value, path, digests)
  return leaf(value, value.map((_, index) => digests.get(digestKey([...path, index])) ?? '').join(''))
}

function branchOf(value: object, path: Path, digests: Digests): Branch {
  const branch = new Map<string, Tree>()
  const numbers = new Map<string, number>()
  for (const [key, entry] of Object.entries(value)) {
    const name = Array.isArray(value) ? entryName(entry as object, key, branch, numbers) : key
    branch.set(name, nodeOf(entry, [...path, key], digests))
  }
  return branch
}

/** The fields that name an entry of a list. */
const NAMES = ['plugin', 'model', 'name']

/** `[auth]`, and `[auth 2]` for a second one. `numbers`: of the last entry of each name. */
function entryName(entry: object, index: string, before: Branch, numbers: Map<string, number>): string {
  const field = NAMES.find((name) => name in entry)
  const name = field === undefined ? index : String(entry[field as keyof typeof entry])
  let number = numbers.get(name) ?? 0
  let numbered: string
  // A key may have the name "auth 2".
  do numbered = ++number === 1 ? `[${name}]` : `[${name} ${number}]`
  while (before.has(numbered))
  numbers.set(name, number)
  return numbered
}

const withoutBrackets = (name: string): string => name.replace(/^\[|\]$/g, '')

const leaf = (value: unknown, fingerprint = ''): Leaf => ({ written: asWritten(value), fingerprint })

function asWritten(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(asWritten).join(', ')}]`
  return typeof value === 'string' && /^[^\p{Cc}]+$/u.test(value) ? value : JSON.stringify(value)
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null
