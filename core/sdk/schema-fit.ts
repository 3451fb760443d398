import { isDeepStrictEqual } from 'node:util'
import { isRecord } from './json.ts'

/**
 * Whether a value fits a JSON Schema (draft 2020-12). The schema is a client's: it is read, never compiled, and a check that takes too long or goes too
 * deep ends as if the value fitted. `pattern`, `patternProperties`, `format` and keywords that are not known are not checked: a pattern of a stranger's
 * may never end.
 */
export function fitsSchema(value: unknown, schema: unknown): boolean {
  try {
    return new SchemaCheck(schema).fits(value, schema, 0)
  } catch (error) {
    if (error === UNDECIDED) return true
    throw error
  }
}

/** Steps of a check: each is one schema for one value. Schemas that refer to each other can ask for billions. */
const MOST_STEPS = 50_000
const MOST_DEPTH = 500

const UNDECIDED = Symbol('undecided')

/** Whether a value is of a type of JSON Schema. A type that is not known allows any. */
const TYPES: Readonly<Record<string, (value: unknown) => boolean>> = {
  null: (value) => value === null,
  boolean: (value) => typeof value === 'boolean',
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  integer: (value) => Number.isInteger(value),
  object: isRecord,
  array: Array.isArray,
}

/** Keywords that hold for a value of one type alone, and whether it fits them. `limit`: the keyword's value. */
const LIMITS: Readonly<Record<string, (value: unknown, limit: number) => boolean>> = {
  minimum: (value, limit) => typeof value !== 'number' || value >= limit,
  maximum: (value, limit) => typeof value !== 'number' || value <= limit,
  exclusiveMinimum: (value, limit) => typeof value !== 'number' || value > limit,
  exclusiveMaximum: (value, limit) => typeof value !== 'number' || value < limit,
  minLength: (value, limit) => typeof value !== 'string' || lengthOf(value) >= limit,
  maxLength: (value, limit) => typeof value !== 'string' || lengthOf(value) <= limit,
  minItems: (value, limit) => !Array.isArray(value) || value.length >= limit,
  maxItems: (value, limit) => !Array.isArray(value) || value.length <= limit,
  minProperties: (value, limit) => !isRecord(value) || Object.keys(value).length >= limit,
  maxProperties: (value, limit) => !isRecord(value) || Object.keys(value).length <= limit,
}

/** In characters; some take two places in a string. */
function lengthOf(text: string): number {
  let length = 0
  for (const _ of text) length++
  return length
}

type Schema = Readonly<Record<string, unknown>>

class SchemaCheck {
  readonly #root: unknown
  #steps = 0

  constructor(root: unknown) {
    this.#root = root
  }

  /** Throws `UNDECIDED`. */
  fits(value: unknown, schema: unknown, depth: number): boolean {
    if (++this.#steps > MOST_STEPS || depth > MOST_DEPTH) throw UNDECIDED
    if (!isRecord(schema)) return schema !== false
    const within = (one: unknown): boolean => this.fits(value, one, depth + 1)
    return (
      this.#fitsValue(value, schema) &&
      (typeof schema.$ref !== 'string' || within(this.#target(schema.$ref))) &&
      listOf(schema.allOf).every(within) &&
      (!Array.isArray(schema.anyOf) || schema.anyOf.some(within)) &&
      (!Array.isArray(schema.oneOf) || schema.oneOf.filter(within).length === 1) &&
      (schema.not === undefined || !within(schema.not)) &&
      (!isRecord(value) || this.#fitsMembers(value, schema, depth)) &&
      (!Array.isArray(value) || this.#fitsItems(value, schema, depth))
    )
  }

  #fitsValue(value: unknown, schema: Schema): boolean {
    const types = [schema.type ?? []].flat()
    if (types.length > 0 && !types.some((type) => TYPES[String(type)]?.(value) ?? true)) return false
    if (Object.hasOwn(schema, 'const') && !isDeepStrictEqual(value, schema.const)) return false
    if (Array.isArray(schema.enum)) {
      this.#steps += schema.enum.length
      if (!schema.enum.some((one) => isDeepStrictEqual(value, one))) return false
    }
    return Object.entries(LIMITS).every(([keyword, fits]) => {
      const limit = schema[keyword]
      return typeof limit !== 'number' || fits(value, limit)
    })
  }

  #fitsMembers(value: Schema, schema: Schema, depth: number): boolean {
    const { required, properties, additionalProperties, patternProperties } = schema
    if (listOf(required).some((name) => typeof name === 'string' && !Object.hasOwn(value, name))) return false
    const known = isRecord(properties) ? properties : {}
    return Object.entries(value).every(([name, member]) => {
      if (Object.hasOwn(known, name)) return this.fits(member, known[name], depth + 1)
      return (
        additionalProperties === undefined || isRecord(patternProperties) || this.fits(member, additionalProperties, depth + 1)
      )
    })
  }

  #fitsItems(value: readonly unknown[], { prefixItems, items }: Schema, depth: number): boolean {
    // Before draft 2020-12 the list was in `items`.
    const [first, rest] = Array.isArray(items) ? [items, undefined] : [listOf(prefixItems), items]
    return value.every((item, index) => {
      const schema = index < first.length ? first[index] : rest
      return schema === undefined || this.fits(item, schema, depth + 1)
    })
  }

  /** The schema at a JSON pointer within the root; without one, a schema that allows any value. */
  #target(reference: string): unknown {
    if (!reference.startsWith('#')) return true
    let at: unknown = this.#root
    for (const step of reference.slice(1).split('/').slice(1)) {
      const name = step.replaceAll('~1', '/').replaceAll('~0', '~')
      if (!(isRecord(at) || Array.isArray(at)) || !Object.hasOwn(at, name)) return true
      at = (at as Schema)[name]
    }
    return at
  }
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
