import { limit, list, type Schema, Unsampleable } from './schema.ts'

/** A number within the bounds: 1 or 0 if they allow it. */
export function sampleNumber(schema: Schema, type: 'number' | 'integer'): number {
  const low = Math.max(limit(schema, 'minimum', -Infinity), limit(schema, 'exclusiveMinimum', -Infinity))
  const high = Math.min(limit(schema, 'maximum', Infinity), limit(schema, 'exclusiveMaximum', Infinity))
  const step = limit(schema, 'multipleOf', 1)
  const multiples = [Math.ceil(low / step), Math.floor(low / step) + 1, Math.floor(high / step), Math.ceil(high / step) - 1]
  const candidates = [1, 0, ...multiples.map((multiple) => multiple * step), low, high, (low + high) / 2]
  const found = candidates.find((candidate) => fits(candidate, { ...schema, type }))
  if (found === undefined) throw new Unsampleable('no number is within its bounds')
  return found
}

const MAX_LENGTH = 10_000

/** Examples of the formats that JSON Schema names (2020-12 validation, §7.3). */
const FORMATS = new Map<unknown, string>([
  ['date-time', '2026-01-31T12:00:00Z'],
  ['date', '2026-01-31'],
  ['time', '12:00:00Z'],
  ['duration', 'P1D'],
  ['email', 'sandbox@example.com'],
  ['hostname', 'sandbox.example.com'],
  ['ipv4', '192.0.2.1'],
  ['ipv6', '2001:db8::1'],
  ['uri', 'https://example.com/sandbox'],
  ['uuid', '5a4db0c5-0000-4000-8000-000000000000'],
])

/** A string of the schema's format, or `sandbox`, of a valid length. */
export function sampleString(schema: Schema): string {
  if (schema.pattern !== undefined) return givenString(schema)
  const least = limit(schema, 'minLength', 0)
  if (least > MAX_LENGTH) throw new Unsampleable(`it requires a string of more than ${MAX_LENGTH} characters`)
  const text = FORMATS.get(schema.format) ?? 'sandbox'.padEnd(least, 'sandbox').slice(0, limit(schema, 'maxLength', MAX_LENGTH))
  if (!fits(text, schema)) throw new Unsampleable('no string is within its bounds')
  return text
}

/** A client's pattern is never run: the schema's default or example is used without checking it. */
function givenString(schema: Schema): string {
  const given = [schema.default, ...list(schema, 'examples')].find((value) => typeof value === 'string' && fits(value, schema))
  if (given === undefined) throw new Unsampleable("a 'pattern' needs a 'default' or 'examples' beside it")
  return given as string
}

/** Whether a value has one of the schema's types and, for numbers and strings, is within its bounds. Ignores patterns and formats. */
export function fits(value: unknown, schema: Schema): boolean {
  const types = schema.type === undefined ? [] : [schema.type].flat()
  if (types.length > 0 && !types.some((type) => isOfType(value, type))) return false
  if (typeof value === 'number') return isWithin(value, schema)
  if (typeof value !== 'string') return true
  const length = [...value].length
  return length >= limit(schema, 'minLength', 0) && length <= limit(schema, 'maxLength', length)
}

function isWithin(value: number, schema: Schema): boolean {
  return (
    Number.isFinite(value) &&
    value >= limit(schema, 'minimum', value) &&
    value <= limit(schema, 'maximum', value) &&
    value > limit(schema, 'exclusiveMinimum', Number.NEGATIVE_INFINITY) &&
    value < limit(schema, 'exclusiveMaximum', Number.POSITIVE_INFINITY) &&
    (schema.multipleOf === undefined || Number.isInteger(value / limit(schema, 'multipleOf', 1)))
  )
}

function isOfType(value: unknown, type: unknown): boolean {
  if (type === 'null') return value === null
  if (type === 'array') return Array.isArray(value)
  if (type === 'integer') return Number.isInteger(value)
  if (type === 'object') return typeof value === 'object' && value !== null && !Array.isArray(value)
  const own: string = typeof value
  return own === type
}
