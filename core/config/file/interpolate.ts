import { dirname, resolve } from 'node:path'
import { isScalar, Scalar } from 'yaml'
import type { FilesRead } from '../watch.ts'
import type { ConfigFile, Path, Problem } from './config-file.ts'
import { asMap, type RawConfig } from './raw-config.ts'

/** What the references of one scalar came to. */
export interface Substitution {
  readonly references: readonly Reference[]
  /** Those of them that are not set. */
  readonly missing: readonly Reference[]
  /** Whether the scalar has its value. Else it keeps its text, which is not worth checking. */
  readonly filled: boolean
}

/** What references lead to. */
export interface Surroundings {
  readonly env: NodeJS.ProcessEnv
  readonly files: FilesRead
}

/** The scalars that hold references. */
export type Substitutions = ReadonlyMap<Scalar, Substitution>

/**
 * Puts what the environment and files hold in the place of every `${…}`, in scalar values only, so that no value can add
 * structure. A file's text is trimmed; its path is relative to routes.yaml. An empty value counts as not set.
 */
export async function substitute(
  source: ConfigFile,
  { env, files }: Surroundings,
): Promise<{ readonly substitutions: Substitutions; readonly problems: readonly Problem[] }> {
  const substitutions = new Map<Scalar, Substitution>()
  const problems: Problem[] = []
  for (const [path, scalar] of source.scalars()) {
    if (typeof scalar.value !== 'string' || !scalar.value.includes('$') || substitutions.has(scalar)) continue
    try {
      substitutions.set(scalar, await substituteScalar(source, scalar, { env, files }))
    } catch (error) {
      substitutions.set(scalar, { references: [], missing: [], filled: false })
      problems.push({ span: source.valueSpan(path), message: (error as Error).message })
    }
  }
  return { substitutions, problems }
}

async function substituteScalar(source: ConfigFile, scalar: Scalar, from: Surroundings): Promise<Substitution> {
  const parts = parseReferences(String(scalar.value))
  const references = parts.filter((part) => typeof part !== 'string')
  const missing: Reference[] = []
  let text = ''
  for (const part of parts) {
    if (typeof part === 'string') {
      text += part
      continue
    }
    const value = await lookUp(part, source, from)
    if (value === undefined) missing.push(part)
    else text += value
  }
  const filled = missing.length === 0
  if (filled) scalar.value = typed(text, scalar, source)
  return { references, missing, filled }
}

async function lookUp(
  { from, name, fallback }: Reference,
  source: ConfigFile,
  { env, files }: Surroundings,
): Promise<string | undefined> {
  const value = from === 'env' ? env[name] : await readSecretFile(resolve(dirname(source.name), name), files)
  return value === undefined || value === '' ? fallback : value
}

async function readSecretFile(path: string, files: FilesRead): Promise<string | undefined> {
  try {
    return (await files.read(path)).trim()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return undefined
    throw new Error(`${path} cannot be read (${code})`, { cause: error })
  }
}

/** Unquoted text is typed after substitution, as OpenTelemetry has it: `${PORT}` may be a number, `"${PORT}"` is a string. */
function typed(text: string, scalar: Scalar, { document }: ConfigFile): unknown {
  if (scalar.type !== Scalar.PLAIN || scalar.tag !== undefined) return text
  const tag = document.schema.tags.find((each) => !each.collection && each.default === true && each.test?.test(text))
  if (tag === undefined || tag.collection) return text
  const value = tag.resolve(text, () => undefined, document.options)
  return isScalar(value) ? value.value : value
}

/** A value that stands outside routes.yaml: an environment variable, or a file that holds one value. */
export interface Reference {
  readonly from: 'env' | 'file'
  /** The variable's name, or the file's path as written. */
  readonly name: string
  /** What to use where the variable is unset or empty. */
  readonly fallback?: string
}

const VARIABLE = /^(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?$/s
const FILE = /^file:(.+)$/s

/**
 * Splits a scalar into literal text and references, by OpenTelemetry's grammar (Configuration Data Model, "Environment variable
 * substitution"): `${env:NAME}`, `${NAME}`, `${NAME:-default}`, `$$` for a dollar sign; `${file:/path}` is ours by its PREFIX
 * rule. Throws an Error that says what to write; unlike there, `${` without its `}` is one, being a slip of the pen.
 */
export function parseReferences(text: string): (string | Reference)[] {
  const parts: (string | Reference)[] = []
  for (const [index, piece] of text.split('$$').entries()) {
    if (index > 0) parts.push('$')
    parts.push(...parsePiece(piece))
  }
  return parts.filter((part) => part !== '')
}

function parsePiece(piece: string): (string | Reference)[] {
  return piece.split(/(\$\{[^}]*\}?)/).map((part, index) => (index % 2 === 0 ? part : parseReference(part)))
}

function parseReference(written: string): Reference {
  if (!written.endsWith('}')) throw new Error(`"\${" begins a reference, but its "}" is missing; write "$$" for a dollar sign`)
  const inside = written.slice(2, -1)
  const file = FILE.exec(inside)?.[1]
  if (file !== undefined) return { from: 'file', name: file }
  const [, name, fallback] = VARIABLE.exec(inside) ?? []
  if (name === undefined) throw new Error(`${JSON.stringify(written)} is not a reference; ${FORMS}`)
  return { from: 'env', name, ...(fallback !== undefined && { fallback }) }
}

const FORMS = `write \${env:NAME}, \${env:NAME:-default} or \${file:/path}, or "$$" for a dollar sign`

/** What the table refers to and nobody has set. */
export interface Unset {
  /** Of each namespace that is left out for it: the references that lead nowhere. */
  readonly dormant: ReadonlyMap<string, readonly Reference[]>
  readonly problems: readonly Problem[]
}

/** References that lead nowhere: an `optional: true` namespace is left out for them, all else is wrong for them. */
export function findUnset(table: RawConfig): Unset {
  const dormant = new Map<string, Reference[]>()
  const problems: Problem[] = []
  for (const [path, { missing }] of table.references()) {
    const namespace = optionalNamespace(table, path)
    if (namespace === undefined) problems.push(...missing.map((reference) => problem(reference, path, table)))
    else if (missing.length > 0) dormant.set(namespace, [...(dormant.get(namespace) ?? []), ...missing])
  }
  return { dormant, problems }
}

/** `set OPENAI_API_KEY and write the file /run/secrets/anthropic` */
export function remedy(missing: readonly Reference[]): string {
  const steps = missing.map(({ from, name }) => (from === 'env' ? `set ${name}` : `write the file ${name}`))
  return [...new Set(steps)].join(' and ')
}

function optionalNamespace({ values }: RawConfig, [section, name]: Path): string | undefined {
  if (section !== 'namespaces' || name === undefined) return undefined
  const namespace = asMap(asMap(asMap(values).namespaces)[name])
  return namespace.optional === true ? String(name) : undefined
}

function problem(reference: Reference, path: Path, { file }: RawConfig): Problem {
  return { span: file.valueSpan(path), message: `${want(reference)}${otherwise(reference, path)}` }
}

function want({ from, name }: Reference): string {
  return from === 'env' ? `${name} is not set: set it` : `the file ${name} is missing or empty: write it`
}

function otherwise({ from, name }: Reference, [section]: Path): string {
  if (section === 'namespaces') return ', or say "optional: true" to leave the namespace out without it'
  return from === 'env' ? `, or give it a default: \${env:${name}:-…}` : ''
}
