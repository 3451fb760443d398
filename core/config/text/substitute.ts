import { dirname, resolve } from 'node:path'
import { isScalar, Scalar } from 'yaml'
import type { FilesRead } from '../files-read.ts'
import { parseReferences, type Reference } from './reference.ts'
import type { Problem, Source } from './source.ts'

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
  source: Source,
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
      problems.push({ span: source.value(path), message: (error as Error).message })
    }
  }
  return { substitutions, problems }
}

async function substituteScalar(source: Source, scalar: Scalar, from: Surroundings): Promise<Substitution> {
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
  source: Source,
  { env, files }: Surroundings,
): Promise<string | undefined> {
  const value = from === 'env' ? env[name] : await readSecretFile(resolve(dirname(source.file), name), files)
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
function typed(text: string, scalar: Scalar, { document }: Source): unknown {
  if (scalar.type !== Scalar.PLAIN || scalar.tag !== undefined) return text
  const tag = document.schema.tags.find((each) => !each.collection && each.default === true && each.test?.test(text))
  if (tag === undefined || tag.collection) return text
  const value = tag.resolve(text, () => undefined, document.options)
  return isScalar(value) ? value.value : value
}
