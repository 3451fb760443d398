import type { ErrorObject } from 'ajv'
import { nearest } from '../../text/suggestions.ts'
import type { Problem } from '../file/config-file.ts'
import { type Path, pathOfPointer } from '../file/path.ts'
import type { RawConfig } from '../file/raw-config.ts'
import type { Validation } from '../schema/validate.ts'
import { messageFor } from './messages.ts'
import { findPlainSecrets } from './plain-secrets.ts'

/** Keywords whose errors only repeat those of their subschemas. */
const WRAPPERS = ['propertyNames', 'if']

/** The problems of a value that was validated: secrets in plain text, and errors of its schema. `base`: the path of the value. */
export function problemsOf(
  { errors, secrets }: Pick<Validation, 'errors' | 'secrets'>,
  raw: RawConfig,
  base: Path,
): readonly Problem[] {
  const plain = findPlainSecrets(secrets, raw, base)
  // Other errors of a secret in plain text do not matter: it must be removed.
  const others = toProblems(errors, raw, base).filter(({ span }) => !plain.some((secret) => secret.span[0] === span[0]))
  return [...plain, ...others]
}

/**
 * The problems behind the errors of a schema, each at its position. Left out are errors that only follow from another one: a field
 * that is missing because it is misspelt, a second error of the same value, an error of a value whose variable is not set.
 */
function toProblems(errors: readonly ErrorObject[], raw: RawConfig, base: Path): readonly Problem[] {
  const problems = new Map<string, Problem>()
  for (const error of errors) {
    const path = [...base, ...pathOfPointer(error.instancePath)]
    const id = `${error.instancePath} ${fieldOf(error) ?? ''}`
    if (WRAPPERS.includes(error.keyword) || problems.has(id) || raw.isUnset(path) || isMisspelt(error, errors)) continue
    problems.set(id, toProblem(error, path, raw))
  }
  return [...problems.values()]
}

function toProblem(error: ErrorObject, path: Path, raw: RawConfig): Problem {
  const field = error.keyword === 'required' ? undefined : fieldOf(error)
  const place = field === undefined ? path : [...path, field]
  const span = field === undefined ? raw.file.valueSpan(path) : raw.file.keySpan(place)
  const message = messageFor(error, { path, written: raw.quotable(path), isReference: raw.substitution(path) !== undefined })
  return { span, message, hide: mayBeSecret(error) ? raw.literals(place) : [] }
}

/** The field that an error is about; undefined if it is about the value as a whole. */
function fieldOf({ params, propertyName }: ErrorObject): string | undefined {
  return params.additionalProperty ?? params.unevaluatedProperty ?? params.missingProperty ?? propertyName
}

/** Whether a missing field is there under a misspelt name: the error of that unknown field is enough. */
function isMisspelt({ keyword, instancePath, params }: ErrorObject, errors: readonly ErrorObject[]): boolean {
  if (keyword !== 'required') return false
  const unknown = errors.filter((error) => error.instancePath === instancePath && error.params.additionalProperty !== undefined)
  return unknown.some((error) => nearestField(error) === params.missingProperty)
}

/** Whether the value may be a secret: an unknown field may be a misspelt secret one. */
function mayBeSecret(error: ErrorObject): boolean {
  if (error.params.additionalProperty === undefined) return false
  const near = nearestField(error)
  return near === undefined || error.parentSchema?.properties?.[near]?.secret === true
}

function nearestField({ params, parentSchema }: ErrorObject): string | undefined {
  return nearest(params.additionalProperty, Object.keys(parentSchema?.properties ?? {}))
}
