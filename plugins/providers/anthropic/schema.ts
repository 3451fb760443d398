import { isRecord, restrictSchema, type SchemaKeywords } from 'unified-model-gateway/plugin'

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

/** The schema of an object. */
type ObjectSchema = Schema & { readonly type: 'object' }

const ALTERNATIVES = ['anyOf', 'oneOf', 'allOf'] as const

/**
 * The arguments of a tool: Anthropic requires a type, OpenAI does not, and answers 400 to alternatives at the top level
 * (github.com/langchain-ai/langchain/issues/39271). They become one object with the properties of all, and stand in the description.
 */
export function toInputSchema(parameters: Schema = {}): ObjectSchema {
  const schema = { properties: {}, ...parameters, type: 'object' as const }
  const asked = ALTERNATIVES.filter((keyword) => Array.isArray(parameters[keyword]))
  if (asked.length === 0) return schema
  const { anyOf: _, oneOf: __, allOf: ___, description, required, ...plain } = schema as Schema & ObjectSchema
  const branches = (keyword: string) => (parameters[keyword] as readonly unknown[]).filter(isRecord)
  const all = asked.flatMap(branches)
  // Of all, what each requires is required; of several, what none can do without.
  const needed = asked.flatMap((keyword) => {
    const names = branches(keyword).map((branch) => namesOf(branch.required))
    return keyword === 'allOf' ? names.flat() : (names[0] ?? []).filter((name) => names.every((others) => others.includes(name)))
  })
  const names = [...new Set([...namesOf(required), ...needed])]
  const rules = `{${asked.map((keyword) => `${keyword}: ${JSON.stringify(parameters[keyword])}`).join(', ')}}`
  return {
    ...plain,
    type: 'object',
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
