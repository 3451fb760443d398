import { restrictSchema, type SchemaKeywords } from 'unified-model-gateway/plugin'

const KEPT = new Set(['type', 'title', 'default', 'const', 'enum', 'required'])
const FORMATS = new Set(['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'uri', 'ipv4', 'ipv6', 'uuid'])

const KEYWORDS: SchemaKeywords = {
  schema: new Set(['items']),
  list: new Set(['anyOf', 'oneOf', 'allOf']),
  named: new Set(['properties', '$defs', 'definitions']),
  takes(keyword, value) {
    if (keyword === 'format') return FORMATS.has(String(value))
    if (keyword === 'minItems') return value === 0 || value === 1
    return KEPT.has(keyword)
  },
  ignored: new Set(['$schema', '$id', '$comment', 'additionalProperties']),
}

type Schema = Readonly<Record<string, unknown>>

/**
 * A JSON Schema for Anthropic's constrained decoding: Anthropic answers 400 to keywords it does not know, so those move to the
 * description, and every object is closed ("Structured outputs", platform.claude.com; `transformJSONSchema` of anthropic-sdk-typescript
 * 0.120; `sanitizeJsonSchema` of vercel/ai ed857f5).
 */
export function toStrictSchema(schema: Schema): Schema {
  if (schema.$ref !== undefined) return { $ref: schema.$ref }
  const { oneOf, ...restricted } = restrictSchema(schema, KEYWORDS, toStrictSchema)
  return {
    ...restricted,
    ...(oneOf !== undefined && { anyOf: oneOf }),
    ...((schema.type === 'object' || schema.properties !== undefined) && { additionalProperties: false }),
  }
}
