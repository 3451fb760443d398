import { type Allowance, Exhausted } from './allowance.ts'
import { merge } from './merge.ts'
import { fits, sampleNumber, sampleString } from './scalars.ts'
import { isSchema, limit, list, type Schema, typesOf, Unsampleable } from './schema.ts'

/** Keywords that are not supported: ignoring them could generate an invalid value. */
const UNSUPPORTED = [
  '$dynamicRef',
  'contains',
  'dependencies',
  'dependentRequired',
  'dependentSchemas',
  'if',
  'not',
  'patternProperties',
  'propertyNames',
  'unevaluatedItems',
  'unevaluatedProperties',
] as const

/** The largest schema, in UTF-16 units of its JSON, and the most elements or properties of one value. */
const MAX_SIZE = 64 * 1024
const MAX_LENGTH = 1000

/** Below this depth only required values are generated, so that recursive schemas end. */
const FULL_DEPTH = 5

/**
 * Generates a valid value for a JSON Schema, always the same for the same schema: with all properties, one element per array, and the
 * first type or alternative that can be satisfied. Throws `Unsampleable` for a schema that is unsatisfiable, too large or not supported.
 * The alternatives of `oneOf` are assumed to exclude each other.
 */
export function sample(schema: unknown, allowance: Allowance): unknown {
  if (JSON.stringify(schema).length > MAX_SIZE) throw new Unsampleable(`it is larger than ${MAX_SIZE} characters`)
  return new Sampler(schema, allowance).value(schema, 0)
}

class Sampler {
  readonly #root: unknown
  readonly #allowance: Allowance

  constructor(root: unknown, allowance: Allowance) {
    this.#root = root
    this.#allowance = allowance
  }

  value(schema: unknown, depth: number): unknown {
    const flat = this.#flatten(schema)
    if (flat === true) return 'sandbox'
    if (!isSchema(flat)) throw new Unsampleable(flat === false ? "nothing is valid for 'false'" : 'it is not a schema')
    const unsupported = UNSUPPORTED.find((keyword) => keyword in flat)
    if (unsupported !== undefined) throw new Unsampleable(`'${unsupported}' is not supported`)
    for (const keyword of ['anyOf', 'oneOf'] as const) {
      if (!(keyword in flat)) continue
      const { [keyword]: _, ...rest } = flat
      return this.#first(list(flat, keyword), (one) => this.value(this.#merge(rest, this.#flatten(one)), depth))
    }
    if ('const' in flat || 'enum' in flat) return this.#written(listed(flat))
    return this.#first(typesOf(flat), (type) => this.#typed(type, flat, depth))
  }

  /** The schema with its `$ref` and `allOf` merged into it. */
  #flatten(schema: unknown): unknown {
    this.#allowance.value()
    this.#allowance.read(schema)
    if (!isSchema(schema) || !('$ref' in schema || 'allOf' in schema)) return schema
    const { $ref, allOf: _, ...rest } = schema
    const parts = list(schema, 'allOf').map((one) => this.#flatten(one))
    if ($ref !== undefined) parts.push(this.#flatten(resolve(this.#root, $ref)))
    return parts.reduce((whole, part) => this.#merge(whole, part), rest)
  }

  #merge(a: unknown, b: unknown): unknown {
    this.#allowance.read(a)
    this.#allowance.read(b)
    return merge(a, b)
  }

  #written<Value>(value: Value): Value {
    this.#allowance.write(value)
    return value
  }

  #typed(type: unknown, schema: Schema, depth: number): unknown {
    switch (type) {
      case 'object':
        return this.#object(schema, depth)
      case 'array':
        return this.#array(schema, depth)
      case 'string':
        return this.#written(sampleString(schema))
      case 'number':
      case 'integer':
        return sampleNumber(schema, type)
      case 'boolean':
        return true
      case 'null':
        return null
      default:
        throw new Unsampleable(`${JSON.stringify(type)} is not a type`)
    }
  }

  #object(schema: Schema, depth: number): object {
    const properties = isSchema(schema.properties) ? schema.properties : {}
    const most = limit(schema, 'maxProperties', MAX_LENGTH)
    const made = new Map<string, unknown>()
    for (const name of list(schema, 'required')) {
      if (typeof name !== 'string') throw new Unsampleable("'required' is not a list of names")
      const property = Object.hasOwn(properties, name) ? properties[name] : (schema.additionalProperties ?? true)
      made.set(this.#written(name), this.value(property, depth + 1))
    }
    for (const [name, property] of Object.entries(properties)) {
      if (made.has(name) || made.size >= most || depth >= FULL_DEPTH) continue
      const optional = attempt(() => this.value(property, depth + 1))
      if (!(optional instanceof Unsampleable)) made.set(this.#written(name), optional.value)
    }
    if (made.size < limit(schema, 'minProperties', 0) || made.size > most) {
      throw new Unsampleable('its bounds on the number of properties cannot be met')
    }
    return Object.fromEntries(made)
  }

  #array(schema: Schema, depth: number): unknown[] {
    if (Array.isArray(schema.items)) throw new Unsampleable("a list of 'items' is not supported; use 'prefixItems'")
    const prefix = list(schema, 'prefixItems')
    const least = limit(schema, 'minItems', 0)
    const most = Math.min(limit(schema, 'maxItems', MAX_LENGTH), schema.uniqueItems === true ? 1 : MAX_LENGTH)
    if (least > most) throw new Unsampleable('its bounds on the number of elements cannot be met')
    const wanted = depth < FULL_DEPTH ? Math.min(Math.max(least, prefix.length, 1), most) : least
    const made: unknown[] = []
    while (made.length < wanted) {
      const element = attempt(() => this.value(prefix[made.length] ?? schema.items ?? true, depth + 1))
      if (!(element instanceof Unsampleable)) made.push(element.value)
      else if (made.length < least) throw element
      else break
    }
    return made
  }

  #first(alternatives: readonly unknown[], make: (alternative: unknown) => unknown): unknown {
    let reason = new Unsampleable('it has no alternatives')
    for (const alternative of alternatives) {
      const made = attempt(() => make(alternative))
      if (!(made instanceof Unsampleable)) return made.value
      reason = made
      this.#allowance.value()
    }
    throw reason
  }
}

function attempt(make: () => unknown): { readonly value: unknown } | Unsampleable {
  try {
    return { value: make() }
  } catch (error) {
    if (error instanceof Unsampleable && !(error instanceof Exhausted)) return error
    throw error
  }
}

/** The first value of `const` or `enum` that the rest of the schema allows. */
function listed(schema: Schema): unknown {
  const values = 'const' in schema ? [schema.const] : list(schema, 'enum')
  const found = values.findIndex((value) => fits(value, schema))
  if (found === -1) throw new Unsampleable('none of its listed values has its type and is within its bounds')
  return values[found]
}

/** Resolves a JSON pointer within the schema (RFC 6901), without percent-decoding. */
function resolve(root: unknown, ref: unknown): unknown {
  if (typeof ref !== 'string' || !/^#(\/|$)/.test(ref)) {
    throw new Unsampleable("'$ref' must point into the schema itself, as '#/$defs/…' does")
  }
  let target = root
  for (const step of ref.split('/').slice(1)) {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof target !== 'object' || target === null || !Object.hasOwn(target, name))
      throw new Unsampleable(`'${ref}' does not exist`)
    target = (target as Schema)[name]
  }
  return target
}
