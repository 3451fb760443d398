import { type Digests, keyOf } from './digests.ts'
import { type Path, Source } from './text/source.ts'
import { toData } from './text/syntax.ts'

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
export type Outline = Branch

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
export function outlineOf(text: string, digests: Digests = new Map()): Outline {
  const outline = new Map<string, Tree>()
  const written = toData(new Source('routes.yaml', text))
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

function treeOf(value: unknown, path: Path, digests: Digests): Tree {
  if (!isObject(value)) return leaf(value, digests.get(keyOf(path)))
  if (!Array.isArray(value) || (value.length > 0 && value.every(isObject))) return branchOf(value, path, digests)
  return leaf(value, value.map((_, index) => digests.get(keyOf([...path, index])) ?? '').join(''))
}

function branchOf(value: object, path: Path, digests: Digests): Branch {
  const branch = new Map<string, Tree>()
  for (const [key, entry] of Object.entries(value)) {
    const name = Array.isArray(value) ? entryName(entry as object, key, branch) : key
    branch.set(name, treeOf(entry, [...path, key], digests))
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
