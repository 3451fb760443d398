/** A JSON Schema that is an object; what its keywords hold is a stranger's and is looked at where it is used. */
export type Schema = Readonly<Record<string, unknown>>

/** Whether a value may be read as a JSON Schema. */
export const isSchema = (value: unknown): value is Schema => typeof value === 'object' && value !== null && !Array.isArray(value)

/** What a keyword lists; nothing where it is absent. */
export function list(schema: Schema, keyword: string): readonly unknown[] {
  const value = schema[keyword] ?? []
  if (!Array.isArray(value)) throw new Unsampleable(`'${keyword}' is not a list`)
  return value
}

/** The number a keyword holds, or `absent`. */
export function limit(schema: Schema, keyword: string, absent: number): number {
  const value = schema[keyword] ?? absent
  if (typeof value !== 'number') throw new Unsampleable(`'${keyword}' is not a number`)
  return value
}

/** The types that a value may have, `null` last; guessed from other keywords where the schema does not say. */
export function typesOf(schema: Schema): readonly unknown[] {
  if (schema.type === undefined) {
    const telling = Object.keys(TYPE_OF).find((keyword) => keyword in schema)
    return [telling === undefined ? 'string' : TYPE_OF[telling]]
  }
  const types: readonly unknown[] = [schema.type].flat()
  return [...types.filter((type) => type !== 'null'), ...types.filter((type) => type === 'null')]
}

/** Keywords that tell the type they are meant for. */
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

/** A schema that no value is made up for. The message completes "cannot make up a value for this schema: …". */
export class Unsampleable extends Error {
  override readonly name = 'Unsampleable'
}
