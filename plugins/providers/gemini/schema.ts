import { isRecord, restrictSchema, type SchemaKeywords } from 'unified-model-gateway/plugin'

const KEPT = new Set([
  ...['$id', '$anchor', 'type', 'format', 'title', 'enum', 'minItems', 'maxItems'],
  ...['minimum', 'maximum', 'required', 'propertyOrdering'],
])

const KEYWORDS: SchemaKeywords = {
  schema: new Set(['items', 'additionalProperties']),
  list: new Set(['anyOf', 'oneOf', 'prefixItems']),
  named: new Set(['properties', '$defs']),
  takes: (keyword) => KEPT.has(keyword),
  ignored: new Set(['$schema', '$comment']),
}

type Schema = Readonly<Record<string, unknown>>

/**
 * A JSON Schema for `responseJsonSchema`: Google enforces a subset of the keywords and ignores the rest, so the rest moves to the
 * description (`GenerateContentConfig.responseJsonSchema` of @google/genai 3.1 lists the subset).
 */
export function toResponseSchema(schema: Schema): Schema {
  const equivalent = withEquivalents(schema)
  // Google takes no other keyword beside a reference.
  if (typeof equivalent.$ref === 'string') return { $ref: equivalent.$ref.replace(/^#\/definitions\//, '#/$defs/') }
  const { description = equivalent.description } = schema
  return restrictSchema({ ...equivalent, description }, KEYWORDS, toResponseSchema)
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
