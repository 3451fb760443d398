import { isRecord } from 'unified-model-gateway/plugin'

/** A JSON Schema that is an object, with unchecked keywords. */
export type Schema = Readonly<Record<string, unknown>>

/** Whether a value is an object that can be read as a JSON Schema. */
export const isSchema = (value: unknown): value is Schema => isRecord(value)

/** The list of a keyword; empty if absent. */
export function list(schema: Schema, keyword: string): readonly unknown[] {
  const value = schema[keyword] ?? []
  if (!Array.isArray(value)) throw new Unsampleable(`'${keyword}' is not a list`)
  return value
}

/** The number of a keyword, or `absent`. */
export function limit(schema: Schema, keyword: string, absent: number): number {
  const value = schema[keyword] ?? absent
  if (typeof value !== 'number') throw new Unsampleable(`'${keyword}' is not a number`)
  return value
}

/** The types of a schema, `null` last; without `type`, derived from other keywords. */
export function typesOf(schema: Schema): readonly unknown[] {
  if (schema.type === undefined) {
    const known = Object.keys(TYPE_OF).find((keyword) => keyword in schema)
    return [known === undefined ? 'string' : TYPE_OF[known]]
  }
  const types: readonly unknown[] = [schema.type].flat()
  return [...types.filter((type) => type !== 'null'), ...types.filter((type) => type === 'null')]
}

/** The types of keywords that apply to one type only. */
const TYPE_OF: Readonly<Record<string, string>> = {
  properties: 'object',
  required: 'object',
  additionalProperties: 'object',
  items: 'array',
  prefixItems: 'array',
  minItems: 'array',
  minimum: 'number',
  exclusiveMinimum: 'number',
  maximum: 'number',
  exclusiveMaximum: 'number',
  multipleOf: 'number',
}

/** A schema for which no value can be generated. The message completes "cannot generate a value for this schema: …". */
export class Unsampleable extends Error {
  override readonly name = 'Unsampleable'
}
