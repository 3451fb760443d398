import { isRecord } from 'unified-model-gateway/plugin'

type Schema = Readonly<Record<string, unknown>>

/** Keywords that hold one schema, a list of schemas, or schemas by name. */
const ONE = new Set(['items', 'additionalProperties'])
const LISTS = new Set(['anyOf', 'oneOf', 'prefixItems'])
const NAMED = new Set(['properties', '$defs'])
const KEPT = new Set([
  ...['$id', '$anchor', 'type', 'format', 'title', 'enum', 'minItems', 'maxItems'],
  ...['minimum', 'maximum', 'required', 'propertyOrdering'],
])
/** Keywords without effect on the model's output. */
const IGNORED = new Set(['$schema', '$comment', 'description'])

/**
 * A JSON Schema for `responseJsonSchema`: Google enforces a subset of the keywords and ignores the rest, so the rest moves to the
 * description (`GenerateContentConfig.responseJsonSchema` of @google/genai 3.1 lists the subset).
 */
export function toResponseSchema(schema: Schema): Schema {
  const known = withEquivalents(schema)
  // Google takes no other keyword beside a reference.
  if (typeof known.$ref === 'string') return { $ref: known.$ref.replace(/^#\/definitions\//, '#/$defs/') }
  const keywords = Object.entries(known).map(([key, value]) => ({ key, value, adapted: adapt(key, value) }))
  const kept = keywords.filter(({ adapted }) => adapted !== undefined).map(({ key, adapted }) => [key, adapted])
  const moved = keywords.filter(({ key, adapted }) => adapted === undefined && !IGNORED.has(key))
  const description = describe(schema.description, moved)
  return { ...Object.fromEntries(kept), ...(description !== undefined && { description }) }
}

/** Replaces three keywords by equivalents: `const` by an `enum` of one, an `allOf` of one by its schema, `definitions` by `$defs`. */
function withEquivalents({ const: only, allOf, definitions, ...rest }: Schema): Schema {
  const alone = Array.isArray(allOf) && allOf.length === 1 && isRecord(allOf[0]) ? allOf[0] : undefined
  return {
    ...(typeof only === 'string' || typeof only === 'number' ? { enum: [only] } : only !== undefined && { const: only }),
    ...(definitions !== undefined && { $defs: definitions }),
    ...rest,
    ...(alone ?? (allOf !== undefined && { allOf })),
  }
}

/** A keyword's value as Google takes it; undefined for a keyword that it does not take. */
function adapt(key: string, value: unknown): unknown {
  if (KEPT.has(key)) return value
  if (ONE.has(key)) return adaptAny(value)
  if (LISTS.has(key) && Array.isArray(value)) return value.map(adaptAny)
  if (!NAMED.has(key) || !isRecord(value)) return undefined
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, adaptAny(inner)]))
}

function adaptAny(schema: unknown): unknown {
  return isRecord(schema) ? toResponseSchema(schema) : schema
}

function describe(description: unknown, moved: readonly { key: string; value: unknown }[]): unknown {
  if (moved.length === 0) return description
  const rules = `{${moved.map(({ key, value }) => `${key}: ${JSON.stringify(value)}`).join(', ')}}`
  return typeof description === 'string' ? `${description}\n\n${rules}` : rules
}
