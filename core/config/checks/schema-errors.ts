import type { ErrorObject } from 'ajv'
import { nearest } from '../../text/suggestions.ts'
import type { Path, Problem } from '../file/config-file.ts'
import type { RawConfig } from '../file/raw-config.ts'
import { messageFor } from './messages.ts'

/** Says again what other errors say better. */
const WRAPPERS = ['propertyNames', 'if']

/**
 * What a schema's errors say of the file, each at its own place. Left out is what only follows from another error: a field that is
 * missing because it is misspelt, a second fault of one value, a fault of a value whose variable is not set.
 */
export function toProblems(errors: readonly ErrorObject[], table: RawConfig, base: Path = []): readonly Problem[] {
  const told = new Map<string, Problem>()
  for (const error of errors) {
    const path = [...base, ...pathOfPointer(error.instancePath)]
    const id = `${error.instancePath} ${fieldOf(error) ?? ''}`
    if (WRAPPERS.includes(error.keyword) || told.has(id) || table.isUnset(path) || isMisspelt(error, errors)) continue
    told.set(id, toProblem(error, path, table))
  }
  return [...told.values()]
}

/** The path of a JSON pointer. */
export function pathOfPointer(pointer: string): Path {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((part) => (/^\d+$/.test(part) ? Number(part) : part))
}

function toProblem(error: ErrorObject, path: Path, table: RawConfig): Problem {
  const field = error.keyword === 'required' ? undefined : fieldOf(error)
  const place = field === undefined ? path : [...path, field]
  const span = field === undefined ? table.file.valueSpan(path) : table.file.keySpan(place)
  const message = messageFor(error, { path, written: table.quotable(path), reference: table.substitution(path) !== undefined })
  return { span, message, hide: vouched(error) ? [] : table.literals(place) }
}

/** The field that an error is about, where it is about one that the schema lacks or misses. */
function fieldOf({ params, propertyName }: ErrorObject): string | undefined {
  return params.additionalProperty ?? params.unevaluatedProperty ?? params.missingProperty ?? propertyName
}

/** Whether a field is missing only because its name is misspelt: the unknown field next to it says so. */
function isMisspelt({ keyword, instancePath, params }: ErrorObject, errors: readonly ErrorObject[]): boolean {
  if (keyword !== 'required') return false
  const unknown = errors.filter((error) => error.instancePath === instancePath && error.params.additionalProperty !== undefined)
  return unknown.some((error) => nearestField(error) === params.missingProperty)
}

/** Whether it is known that what stands here is no secret: an unknown field may be a misspelt one. */
function vouched(error: ErrorObject): boolean {
  if (error.params.additionalProperty === undefined) return true
  const near = nearestField(error)
  return near !== undefined && error.parentSchema?.properties?.[near]?.secret !== true
}

function nearestField({ params, parentSchema }: ErrorObject): string | undefined {
  return nearest(params.additionalProperty, Object.keys(parentSchema?.properties ?? {}))
}
