import { dirname, resolve } from 'node:path'
import { isScalar, Scalar } from 'yaml'
import { yieldIfLong } from '../../async/long-work.ts'
import type { ConfigFile, Problem } from './config-file.ts'
import type { FilesRead } from './files-read.ts'

/** A reference to a value outside routes.yaml: an environment variable, or a file that holds one value. */
export interface Reference {
  readonly from: 'env' | 'file'
  /** The variable's name, or the file's path as written. */
  readonly name: string
  /** The value to use if the variable is unset or empty. */
  readonly fallback?: string
}

/** The references of one scalar. */
export interface Substitution {
  readonly references: readonly Reference[]
  /** Those of them that are not set. */
  readonly missing: readonly Reference[]
  /** Whether the scalar has its final value. If not, it keeps its text, which is not worth checking. */
  readonly filled: boolean
}

/** The scalars that hold references. */
export type Substitutions = ReadonlyMap<Scalar, Substitution>

/** A scalar whose references are not valid. */
const NOT_FILLED: Substitution = { references: [], missing: [], filled: false }

/** The values that references can refer to. */
export interface ReferenceValues {
  readonly env: NodeJS.ProcessEnv
  readonly files: FilesRead
}

/**
 * Replaces every `${…}` in the scalar values of a file by the variable or file it refers to. Only scalars are replaced, so that no
 * value can add structure. A file's text is trimmed; its path is relative to routes.yaml. An empty value counts as not set.
 */
export async function substitute(
  file: ConfigFile,
  values: ReferenceValues,
): Promise<{ readonly substitutions: Substitutions; readonly problems: readonly Problem[] }> {
  const substitutions = new Map<Scalar, Substitution>()
  const problems: Problem[] = []
  for (const [path, scalar] of file.scalars()) {
    await yieldIfLong()
    if (file.isUnquoted(scalar)) substitutions.set(scalar, NOT_FILLED)
    if (typeof scalar.value !== 'string' || !scalar.value.includes('$') || substitutions.has(scalar)) continue
    try {
      substitutions.set(scalar, await substituteScalar(file, scalar, values))
    } catch (error) {
      substitutions.set(scalar, NOT_FILLED)
      problems.push({ span: file.valueSpan(path), message: (error as Error).message })
    }
  }
  return { substitutions, problems }
}

async function substituteScalar(file: ConfigFile, scalar: Scalar, values: ReferenceValues): Promise<Substitution> {
  const parts = parseReferences(String(scalar.value))
  const references = parts.filter((part) => typeof part !== 'string')
  const missing: Reference[] = []
  let text = ''
  for (const part of parts) {
    if (typeof part === 'string') {
      text += part
      continue
    }
    const value = await lookUp(part, file, values)
    if (value === undefined) missing.push(part)
    else text += value
  }
  const filled = missing.length === 0
  if (filled) scalar.value = typed(text, scalar, file)
  return { references, missing, filled }
}

async function lookUp(
  { from, name, fallback }: Reference,
  file: ConfigFile,
  { env, files }: ReferenceValues,
): Promise<string | undefined> {
  const value = from === 'env' ? env[name] : await readSecretFile(resolve(dirname(file.name), name), files)
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

/** Unquoted text is typed after substitution, as OpenTelemetry does it: `${PORT}` may be a number, `"${PORT}"` is a string. */
function typed(text: string, scalar: Scalar, { document }: ConfigFile): unknown {
  if (scalar.type !== Scalar.PLAIN || scalar.tag !== undefined) return text
  const tag = document.schema.tags.find((each) => !each.collection && each.default === true && each.test?.test(text))
  if (tag === undefined || tag.collection) return text
  const value = tag.resolve(text, () => undefined, document.options)
  return isScalar(value) ? value.value : value
}

/**
 * Splits a scalar into literal text and references, by OpenTelemetry's grammar (Configuration Data Model, "Environment variable
 * substitution"): `${env:NAME}`, `${NAME}`, `${NAME:-default}`, `$$` for a dollar sign; `${file:/path}` is ours by its PREFIX
 * rule. Throws an Error that says what to write. Unlike there, `${` without its `}` is an error, because it is a typing mistake.
 */
function parseReferences(text: string): (string | Reference)[] {
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

const VARIABLE = /^(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?$/s
const FILE = /^file:(.+)$/s
const FORMS = `write \${env:NAME}, \${env:NAME:-default} or \${file:/path}, or "$$" for a dollar sign`

function parseReference(written: string): Reference {
  if (!written.endsWith('}')) throw new Error(`"\${" begins a reference, but its "}" is missing; write "$$" for a dollar sign`)
  const inside = written.slice(2, -1)
  const file = FILE.exec(inside)?.[1]
  if (file !== undefined) return { from: 'file', name: file }
  const [, name, fallback] = VARIABLE.exec(inside) ?? []
  if (name === undefined) throw new Error(`${JSON.stringify(written)} is not a reference; ${FORMS}`)
  return { from: 'env', name, ...(fallback !== undefined && { fallback }) }
}
