import { type ChatRequest, isRecord, restrictSchema, type SchemaKeywords } from 'unified-model-gateway/plugin'

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

const ALTERNATIVES = ['anyOf', 'oneOf', 'allOf'] as const

/**
 * The arguments of a tool without alternatives at the top level, to which Anthropic answers 400 (github.com/langchain-ai/langchain/issues/39271):
 * one object has the properties of all, and they stand in the description.
 */
export function withoutAlternatives(schema: Schema): Schema {
  const asked = ALTERNATIVES.filter((keyword) => Array.isArray(schema[keyword]))
  if (asked.length === 0) return schema
  const { anyOf: _, oneOf: __, allOf: ___, description, required, ...plain } = schema
  const branches = (keyword: string) => (schema[keyword] as readonly unknown[]).filter(isRecord)
  const all = asked.flatMap(branches)
  // Of all, what each requires is required; of several, what none can do without.
  const needed = asked.flatMap((keyword) => {
    const names = branches(keyword).map((branch) => namesOf(branch.required))
    return keyword === 'allOf' ? names.flat() : (names[0] ?? []).filter((name) => names.every((others) => others.includes(name)))
  })
  const names = [...new Set([...namesOf(required), ...needed])]
  const rules = `{${asked.map((keyword) => `${keyword}: ${JSON.stringify(schema[keyword])}`).join(', ')}}`
  return {
    ...plain,
    properties: Object.assign({}, ...[...all, schema].map(({ properties }) => (isRecord(properties) ? properties : {}))),
    ...(names.length > 0 && { required: names }),
    description: typeof description === 'string' ? `${description}\n\n${rules}` : rules,
  }
}

const namesOf = (required: unknown): readonly string[] =>
  Array.isArray(required) ? required.filter((name) => typeof name === 'string') : []

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

/** Keywords by which an object has members of any name. */
const MAPS = ['additionalProperties', 'unevaluatedProperties', 'patternProperties'] as const

/**
 * Whether a schema has a map: an object whose members may have any name. Anthropic's constrained decoding closes every object, so that a map
 * would be empty.
 */
export function hasMaps(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.some(hasMaps)
  if (!isRecord(schema)) return false
  if (MAPS.some((keyword) => isMap(schema, keyword))) return true
  for (const keyword of [...KEYWORDS.schema, ...KEYWORDS.list]) if (hasMaps(schema[keyword])) return true
  return [...KEYWORDS.named].some((keyword) => isRecord(schema[keyword]) && Object.values(schema[keyword]).some(hasMaps))
}

/** `true`, or a schema of any value, only allows further members: without any of its own the object is a map of these. */
function isMap(schema: Schema, keyword: string): boolean {
  const { properties, [keyword]: others } = schema
  const allowsAny = others === true || (isRecord(others) && Object.keys(others).length === 0)
  if (allowsAny) return keyword !== 'patternProperties' && !(isRecord(properties) && Object.keys(properties).length > 0)
  return isRecord(others)
}

/** Whether a strict tool has a map in its arguments: it is sent without `strict`. */
export const hasStrictMaps = ({ tools = [] }: Readonly<ChatRequest>): boolean =>
  (tools ?? []).some((tool) => tool.type === 'function' && tool.function.strict === true && hasMaps(tool.function.parameters))
