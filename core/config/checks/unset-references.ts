import type { Problem } from '../file/config-file.ts'
import type { Reference } from '../file/interpolate.ts'
import type { Path } from '../file/path.ts'
import { asMap, type RawConfig } from '../file/raw-config.ts'

/** The references whose variable or file is not set. */
export interface UnsetReferences {
  /** By `optional: true` namespace, which is left out because of them. */
  readonly dormant: ReadonlyMap<string, readonly Reference[]>
  /** All others. */
  readonly problems: readonly Problem[]
}

/** Finds references whose variable or file is not set. */
export function findUnsetReferences(raw: RawConfig): UnsetReferences {
  const dormant = new Map<string, Reference[]>()
  const problems: Problem[] = []
  for (const [path, { missing }] of raw.references()) {
    const namespace = optionalNamespace(raw, path)
    if (namespace === undefined) problems.push(...missing.map((reference) => toProblem(reference, path, raw)))
    else if (missing.length > 0) dormant.set(namespace, [...(dormant.get(namespace) ?? []), ...missing])
  }
  return { dormant, problems }
}

function optionalNamespace({ values }: RawConfig, [section, name]: Path): string | undefined {
  if (section !== 'namespaces' || name === undefined) return undefined
  const namespace = asMap(asMap(asMap(values).namespaces)[name])
  return namespace.optional === true ? String(name) : undefined
}

function toProblem(reference: Reference, path: Path, { file }: RawConfig): Problem {
  const { from, name } = reference
  const what = from === 'env' ? `${name} is not set: set it` : `the file ${name} is missing or empty: write it`
  return { span: file.valueSpan(path), message: `${what}${alternative(reference, path)}` }
}

function alternative({ from, name }: Reference, [section]: Path): string {
  if (section === 'namespaces') return ', or add "optional: true" to leave out the namespace until it is set'
  return from === 'env' ? `, or give it a default: \${env:${name}:-…}` : ''
}

/** What to do to set references: `set OPENAI_API_KEY and write the file /run/secrets/anthropic`. */
export function howToSet(missing: readonly Reference[]): string {
  const steps = missing.map(({ from, name }) => (from === 'env' ? `set ${name}` : `write the file ${name}`))
  return [...new Set(steps)].join(' and ')
}
