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
/** Of no meaning for what the model writes. */
const SILENT = new Set(['$schema', '$comment', 'description'])

/**
 * A JSON Schema as `responseJsonSchema` takes it: a subset is enforced and the rest is passed over in silence, so the rest is told to
 * the model in the description (`GenerateContentConfig.responseJsonSchema` of @google/genai 3.1 lists the subset).
 */
export function toResponseSchema(schema: Schema): Schema {
  const known = withKnownNames(schema)
  // Beside a reference nothing else may stand.
  if (typeof known.$ref === 'string') return { $ref: known.$ref.replace(/^#\/definitions\//, '#/$defs/') }
  const keywords = Object.entries(known).map(([key, value]) => ({ key, value, adapted: adapt(key, value) }))
  const kept = keywords.filter(({ adapted }) => adapted !== undefined).map(({ key, adapted }) => [key, adapted])
  const told = keywords.filter(({ key, adapted }) => adapted === undefined && !SILENT.has(key))
  const description = describe(schema.description, told)
  return { ...Object.fromEntries(kept), ...(description !== undefined && { description }) }
}

/** Three keywords have another name for what they mean: a `const` is an `enum` of one, an `allOf` of one that one itself. */
function withKnownNames({ const: only, allOf, definitions, ...rest }: Schema): Schema {
  const alone = Array.isArray(allOf) && allOf.length === 1 && isRecord(allOf[0]) ? allOf[0] : undefined
  return {
    ...(typeof only === 'string' || typeof only === 'number' ? { enum: [only] } : only !== undefined && { const: only }),
    ...(definitions !== undefined && { $defs: definitions }),
    ...rest,
    ...(alone ?? (allOf !== undefined && { allOf })),
  }
}

/** A keyword's value as Google takes it; undefined where it does not. */
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

function describe(description: unknown, told: readonly { key: string; value: unknown }[]): unknown {
  if (told.length === 0) return description
  const rules = `{${told.map(({ key, value }) => `${key}: ${JSON.stringify(value)}`).join(', ')}}`
  return typeof description === 'string' ? `${description}\n\n${rules}` : rules
}
