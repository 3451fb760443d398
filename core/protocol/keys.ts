import { GatewayError } from '../errors.ts'
import { MEMBERS } from './members.ts'

/** Throws a GatewayError (400) for a duplicate key: parsers disagree on which one counts. */
export function checkDuplicates(keys: readonly string[]): void {
  const duplicate = keys.find((key, index) => keys.indexOf(key) < index)
  if (duplicate !== undefined) throw new GatewayError('duplicate_parameter', { param: duplicate.slice(0, 100) })
}

/** Throws a GatewayError (400) for a duplicate key, or for one that an upstream could confuse with a key that the gateway reads. */
export function checkKeys(keys: readonly string[]): void {
  // Authorisation and upstream could read different models.
  checkDuplicates(keys)
  const alike = keys.find((key) => !FIELDS.has(key) && FOLDED.test(key))
  if (alike !== undefined) throw misspelled(alike)
}

/** The top-level members of any endpoint that do more than shape the answer. */
const FIELDS: ReadonlySet<string> = new Set(
  Object.values(MEMBERS).flatMap(({ top }) => Object.keys(top).filter((name) => top[name] !== 'harmless')),
)

/** Go's encoding/json, for one, folds case as Unicode does: such an upstream reads `Model` as `model`, `ſ` as `s`, `K` as `k`. */
const FOLDED = new RegExp(`^(?:${[...FIELDS].join('|')})$`, 'iu')

/** Throws a GatewayError (400) for a name in a form by which some upstreams mean a member of one which the gateway reads: `model[]`. */
export function checkName(name: string): void {
  const at = name.search(/[[.]/)
  if (at > 0 && FOLDED.test(name.slice(0, at))) throw misspelled(name, name.slice(0, at))
}

/** The error for a key that some servers take for a member. */
export function misspelled(key: string, field = key): GatewayError {
  return new GatewayError('misspelled_parameter', { param: key, values: { field: folded(field) } })
}

/** A key as servers compare it that ignore case. `ſ` folds in upper case, the Kelvin sign in lower case. */
export const folded = (key: string): string => key.toUpperCase().toLowerCase()
