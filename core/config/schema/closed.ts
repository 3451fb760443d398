import type { TSchema } from 'typebox'

type Part = Readonly<Record<string, unknown>>

/**
 * The schema with every map closed that does not set `additionalProperties` itself: a misspelt field is an error at every level,
 * also in the config of a plugin whose schema allows other fields by default. Maps inside an `allOf` are left as they are.
 */
export function closed(schema: TSchema): TSchema {
  return closePart(schema as Part) as TSchema
}

function closePart(part: Part): Part {
  const { properties, patternProperties, additionalProperties, items } = part
  // Branches beside properties describe the same map, each a part of it.
  const branches = properties === undefined ? ['anyOf', 'oneOf'].filter((keyword) => Array.isArray(part[keyword])) : []
  const cases = properties === undefined ? ['then', 'else'].filter((keyword) => part[keyword] !== undefined) : []
  return {
    ...part,
    ...(isPart(properties) && { additionalProperties: false, properties: closeEach(properties) }),
    ...(isPart(patternProperties) && { patternProperties: closeEach(patternProperties) }),
    ...(additionalProperties !== undefined && { additionalProperties: closeAny(additionalProperties) }),
    ...(items !== undefined && { items: closeAny(items) }),
    ...Object.fromEntries(branches.map((keyword) => [keyword, (part[keyword] as unknown[]).map(closeAny)])),
    ...Object.fromEntries(cases.map((keyword) => [keyword, closeAny(part[keyword])])),
  }
}

function closeEach(parts: Part): Part {
  return Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, closeAny(part)]))
}

function closeAny(value: unknown): unknown {
  return isPart(value) ? closePart(value) : value
}

function isPart(value: unknown): value is Part {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
