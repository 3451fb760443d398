import type { ErrorObject } from 'ajv'
import { didYouMean, oneOf } from '../../text/suggestions.ts'
import { formatPath, type Path } from '../file/path.ts'

/** The value that a message is about. The message never quotes the value itself: it may be a secret. */
export interface ValueContext {
  readonly path: Path
  /** The value as written in the file; undefined if it comes from a reference. */
  readonly written: string | undefined
  readonly isReference: boolean
}

type Message = (error: ErrorObject, context: ValueContext) => string
type Schema = Readonly<Record<string, unknown>> | undefined

const KINDS: Readonly<Record<string, string>> = {
  object: 'a map',
  array: 'a list',
  string: 'a string',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  null: 'empty',
}

/** The message of each JSON Schema keyword that schemas here are likely to use. For other keywords, Ajv's own message is used. */
const MESSAGES: Readonly<Record<string, Message>> = {
  additionalProperties: unknownField,
  unevaluatedProperties: unknownField,
  required: missingField,
  type: wrongType,
  enum: ({ params }, { written }) => choice(params.allowedValues, written),
  const: exactValue,
  anyOf: union,
  oneOf: union,
  pattern: ({ params, parentSchema }) => shape(parentSchema, `text that matches ${params.pattern}`),
  format: ({ params, parentSchema }) => shape(parentSchema, `a valid ${params.format}`),
  minLength: ({ params }) => (params.limit === 1 ? 'must not be empty' : `must have at least ${params.limit} characters`),
  maxLength: ({ params }) => `must have at most ${params.limit} characters`,
  minimum: ({ params }) => `must be at least ${params.limit}`,
  maximum: ({ params }) => `must be at most ${params.limit}`,
  exclusiveMinimum: ({ params }) => `must be more than ${params.limit}`,
  exclusiveMaximum: ({ params }) => `must be less than ${params.limit}`,
  multipleOf: ({ params }) => `must be a multiple of ${params.multipleOf}`,
  minItems: ({ params }) => (params.limit === 1 ? 'must not be an empty list' : `must have at least ${params.limit} entries`),
  maxItems: ({ params }) => `must have at most ${params.limit} entries`,
  uniqueItems: ({ params: { i, j } }) => `must not have duplicates: [${Math.min(i, j)}] and [${Math.max(i, j)}] are equal`,
  minProperties: ({ params }) => (params.limit === 1 ? 'must not be an empty map' : `must have at least ${params.limit} fields`),
  maxProperties: ({ params }) => `must have at most ${params.limit} fields`,
  not: () => 'has a value that is not allowed here',
  dependentRequired: ({ params }) => `needs the field "${params.missingProperty}" because it has "${params.property}"`,
}

/** The message of a schema's error, for the author of the file. */
export function messageFor(error: ErrorObject, context: ValueContext): string {
  const message = MESSAGES[error.keyword]?.(error, context) ?? error.message ?? 'is not valid'
  if (error.propertyName !== undefined) return `${JSON.stringify(error.propertyName)} in ${formatPath(context.path)} ${message}`
  return /^(unknown|missing) field/.test(message) ? message : `${formatPath(context.path)} ${message}`
}

const within = (path: Path): string => (path.length === 0 ? 'at the top level' : `in ${formatPath(path)}`)

function unknownField({ params, parentSchema }: ErrorObject, { path }: ValueContext): string {
  const field: string = params.additionalProperty ?? params.unevaluatedProperty
  const fields = Object.keys(parentSchema?.properties ?? {})
  const unknown = `unknown field ${JSON.stringify(field)} ${within(path)}`
  const near = didYouMean(field, fields)
  if (near !== '') return unknown + near
  const patterns = Object.keys(parentSchema?.patternProperties ?? {})
  if (patterns.length > 0) return `${unknown}; names here must match ${patterns.join(' or ')}`
  return fields.length === 0 ? `${unknown}; no field is allowed here` : `${unknown}; allowed are ${fields.join(', ')}`
}

function missingField({ params, parentSchema }: ErrorObject, { path }: ValueContext): string {
  const field: string = params.missingProperty
  const example = exampleOf(parentSchema?.properties?.[field])
  const shown = typeof example === 'string' ? example : JSON.stringify(example)
  return `missing field "${field}" ${within(path)}; add it${example === undefined ? '' : `, for example ${field}: ${shown}`}`
}

function wrongType({ params, parentSchema, data }: ErrorObject, { isReference }: ValueContext): string {
  if (parentSchema?.const !== undefined) return mustBe(parentSchema.const, data)
  if (parentSchema?.title !== undefined)
    return `must be ${parentSchema.title}${suchAs(parentSchema)}, but is ${kindOfValue(data)}`
  const example = partsOf(parentSchema)
  const such = example === undefined ? '' : `, such as ${JSON.stringify(example)}`
  const wanted = [params.type].flat().map(kindOf).join(' or ') + such
  const quotes = quotesFor(params.type, data)
  // Inside { } a reference needs its quotes.
  const how = isReference && quotes === 'without quotes' ? '' : quotes
  return `must be ${wanted}, but is ${kindOfValue(data)}${how && `; write ${isReference ? 'the reference' : 'it'} ${how}`}`
}

function exactValue({ params, data }: ErrorObject): string {
  return mustBe(params.allowedValue, data)
}

/** `must be 1, without quotes` */
function mustBe(value: unknown, data: unknown): string {
  const quotes = String(value) === String(data) ? quotesFor(typeof value, data) : ''
  return `must be ${JSON.stringify(value)}${quotes && `, ${quotes}`}`
}

/** The texts of values that are not texts, by their types. */
const WITHOUT_QUOTES: Readonly<Record<string, RegExp>> = {
  number: /^-?\d+(\.\d+)?$/,
  integer: /^-?\d+$/,
  boolean: /^(true|false)$/,
}

/** `in quotes` or `without quotes` where only quotes give a value another type than the wanted one; else an empty string. */
function quotesFor(type: unknown, data: unknown): '' | 'in quotes' | 'without quotes' {
  if (typeof data === 'string') return WITHOUT_QUOTES[String(type)]?.test(data) ? 'without quotes' : ''
  return type === 'string' && ['number', 'boolean'].includes(typeof data) ? 'in quotes' : ''
}

function union({ schema, data }: ErrorObject, { written }: ValueContext): string {
  const branches: readonly Record<string, unknown>[] = Array.isArray(schema) ? schema : []
  const choices = branches.map((branch) => branch.const)
  if (!choices.includes(undefined)) return choice(choices, written)
  const kinds = new Set(
    branches.map((branch) => branch.title ?? (branch.const === undefined ? kindOf(branch.type) : JSON.stringify(branch.const))),
  )
  return `must be ${[...kinds].join(' or ')}, but is ${kindOfValue(data)}`
}

function choice(values: readonly unknown[], written: string | undefined): string {
  // `429` is allowed as a number and as text: the message names it once.
  const allowed = values.filter((value) => typeof value !== 'string' || !values.includes(Number(value)))
  const near = written === undefined ? '' : didYouMean(written, allowed.map(String))
  // In a long list, the one useful name would be lost.
  return near !== '' && allowed.length > 5
    ? `is not one of the ${allowed.length} allowed values${near}`
    : `must be ${oneOf(allowed)}${near}`
}

/** `must be a duration, such as "500ms" or "2s"`, or without a title `must look like "60/min"` */
function shape(schema: Schema, otherwise: string): string {
  const shown = examplesOf(schema).slice(0, 3)
  if (schema?.title === undefined && shown.length > 0) return `must look like ${oneOf(shown)}`
  return `must be ${schema?.title ?? otherwise}${suchAs(schema)}`
}

/** `, such as "500ms" or "2s"` */
function suchAs(schema: Schema): string {
  const shown = examplesOf(schema).slice(0, 3)
  return shown.length === 0 ? '' : `, such as ${oneOf(shown)}`
}

/** Examples of a valid value. */
function examplesOf(schema: Schema): readonly unknown[] {
  if (Array.isArray(schema?.examples)) return schema.examples
  if (schema?.secret === true) return [`"\${env:NAME}"`]
  return [schema?.const, schema?.default].filter((value) => value !== undefined)
}

/** A map of its required fields, or a list of one entry, by the examples of those; undefined if one has none. */
function partsOf(schema: Schema): unknown {
  if (Array.isArray(schema?.examples)) return ['object', 'array'].includes(String(schema.type)) ? schema.examples[0] : undefined
  if (schema?.type === 'array') {
    const entry = exampleOf(schema.items as Schema)
    return entry === undefined ? undefined : [entry]
  }
  const required = (schema?.required ?? []) as readonly string[]
  const properties = (schema?.properties ?? {}) as Readonly<Record<string, Schema>>
  const fields = required.map((name) => [name, exampleOf(properties[name])] as const)
  return fields.length === 0 || fields.some(([, example]) => example === undefined) ? undefined : Object.fromEntries(fields)
}

const exampleOf = (schema: Schema): unknown => examplesOf(schema)[0] ?? partsOf(schema)

function kindOf(type: unknown): string {
  return KINDS[String(type)] ?? String(type)
}

function kindOfValue(value: unknown): string {
  if (value === null) return 'empty'
  if (typeof value === 'boolean') return 'a boolean'
  if (typeof value === 'number' && !Number.isInteger(value)) return 'a fraction'
  return kindOf(Array.isArray(value) ? 'array' : typeof value)
}
