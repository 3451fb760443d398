import { isRecord } from 'unified-model-gateway/plugin'

/** Keywords that hold one schema, a list of schemas, or schemas by name. */
const ONE = new Set(['items'])
const LISTS = new Set(['anyOf', 'oneOf', 'allOf'])
const NAMED = new Set(['properties', '$defs', 'definitions'])
const KEPT = new Set(['type', 'title', 'default', 'const', 'enum', 'required'])
const FORMATS = new Set(['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'uri', 'ipv4', 'ipv6', 'uuid'])
/** Keywords without effect on the model's output. */
const IGNORED = new Set(['$schema', '$id', '$comment', 'additionalProperties', 'description'])

type Schema = Readonly<Record<string, unknown>>

/**
 * A JSON Schema for Anthropic's constrained decoding: Anthropic answers 400 to keywords it does not know, so those move to the
 * description, and every object is closed ("Structured outputs", platform.claude.com;
 * `transformJSONSchema` of anthropic-sdk-typescript 0.120; `sanitizeJsonSchema` of vercel/ai ed857f5).
 */
export function toStrictSchema(schema: Schema): Schema {
  if (schema.$ref !== undefined) return { $ref: schema.$ref }
  const keywords = Object.entries(schema).map(([key, value]) => ({ key, value, adapted: adapt(key, value) }))
  const kept = keywords.flatMap(({ key, adapted }) => (adapted === undefined ? [] : [[key === 'oneOf' ? 'anyOf' : key, adapted]]))
  const moved = keywords.filter(({ key, adapted }) => adapted === undefined && !IGNORED.has(key))
  const description = describe(schema.description, moved)
  return {
    ...Object.fromEntries(kept),
    ...(description !== undefined && { description }),
    ...((schema.type === 'object' || schema.properties !== undefined) && { additionalProperties: false }),
  }
}

/** A keyword's value as Anthropic takes it; undefined for a keyword that it does not take. */
function adapt(key: string, value: unknown): unknown {
  if (KEPT.has(key)) return value
  if (ONE.has(key)) return adaptAny(value)
  if (LISTS.has(key) && Array.isArray(value)) return value.map(adaptAny)
  if (NAMED.has(key) && isRecord(value)) {
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, adaptAny(inner)]))
  }
  if (key === 'format' && FORMATS.has(String(value))) return value
  if (key === 'minItems' && (value === 0 || value === 1)) return value
  return undefined
}

function adaptAny(schema: unknown): unknown {
  return isRecord(schema) ? toStrictSchema(schema) : schema
}

function describe(description: unknown, moved: readonly { key: string; value: unknown }[]): unknown {
  if (moved.length === 0) return description
  const rules = `{${moved.map(({ key, value }) => `${key}: ${JSON.stringify(value)}`).join(', ')}}`
  return typeof description === 'string' ? `${description}\n\n${rules}` : rules
}
