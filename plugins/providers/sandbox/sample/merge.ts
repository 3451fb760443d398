import { isSchema, limit, list, type Schema, Unsampleable } from './schema.ts'

/** The schema of the values that are valid for both. Throws `Unsampleable` if one schema cannot express that. */
export function merge(a: unknown, b: unknown): unknown {
  if (a === true || b === false) return b
  if (b === true || a === false) return a
  if (!isSchema(a) || !isSchema(b)) throw new Unsampleable('it is not a schema')
  checkClosed(a, b)
  checkClosed(b, a)
  const merged: Record<string, unknown> = { ...a }
  for (const [keyword, value] of Object.entries(b)) {
    merged[keyword] = keyword in a ? combine(keyword, a, b) : value
  }
  return merged
}

/** A schema's `additionalProperties` depends on its own `properties`, which merging would extend. */
function checkClosed(closed: Schema, other: Schema): void {
  if ((closed.additionalProperties ?? true) === true || !isSchema(other.properties)) return
  const own = isSchema(closed.properties) ? closed.properties : {}
  if (Object.keys(other.properties).some((name) => !Object.hasOwn(own, name))) {
    throw new Unsampleable("it adds 'properties' to a schema that allows no additional ones")
  }
}

const ANNOTATIONS = new Set(['$comment', '$defs', '$id', '$schema', 'default', 'definitions', 'description', 'examples', 'title'])

/** A keyword's value in the merged schema, for a keyword of both. */
type Combination = (a: Schema, b: Schema, keyword: string) => unknown

const both: Combination = (a, b, keyword) => ({ allOf: [a[keyword], b[keyword]] })

const union: Combination = (a, b, keyword) => [...new Set([...list(a, keyword), ...list(b, keyword)])]

const greatest: Combination = (a, b, keyword) => Math.max(limit(a, keyword, 0), limit(b, keyword, 0))

const least: Combination = (a, b, keyword) => Math.min(limit(a, keyword, 0), limit(b, keyword, 0))

/** A property of both must be valid for both. */
const mergedProperties: Combination = ({ properties: a }, { properties: b }) => {
  if (!isSchema(a) || !isSchema(b)) throw new Unsampleable("'properties' is not an object")
  const shared = Object.keys(b).filter((name) => Object.hasOwn(a, name))
  return Object.fromEntries([...Object.entries({ ...a, ...b }), ...shared.map((name) => [name, both(a, b, name)])])
}

const commonValues: Combination = (a, b, keyword) => {
  const others = new Set(list(b, keyword).map((value) => JSON.stringify(value)))
  return list(a, keyword).filter((value) => others.has(JSON.stringify(value)))
}

/** An integer is a number. */
const commonTypes: Combination = (a, b) => {
  const [ones, others] = [new Set([a.type].flat()), new Set([b.type].flat())]
  const narrow = (types: Set<unknown>, wide: Set<unknown>) =>
    [...types].filter((type) => wide.has(type) || (type === 'integer' && wide.has('number')))
  return [...new Set([...narrow(ones, others), ...narrow(others, ones)])]
}

const COMBINATIONS = new Map<string, Combination>([
  ['properties', mergedProperties],
  ['items', both],
  ['required', union],
  ['enum', commonValues],
  ['type', commonTypes],
  ...['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties'].map((keyword) => [keyword, greatest] as const),
  ...['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties'].map((keyword) => [keyword, least] as const),
])

function combine(keyword: string, a: Schema, b: Schema): unknown {
  if (ANNOTATIONS.has(keyword) || same(a[keyword], b[keyword])) return b[keyword]
  const combination = COMBINATIONS.get(keyword)
  if (combination === undefined) throw new Unsampleable(`it combines different '${keyword}'`)
  return combination(a, b, keyword)
}

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)
