import type { ErrorObject } from 'ajv'
import { didYouMean, oneOf } from '../../text/suggestions.ts'
import type { Path } from '../file/config-file.ts'

/** What a sentence may say beside the schema's error: never a value, which may be a secret. */
export interface Place {
  /** Where the value stands, from the top of the file. */
  readonly path: Path
  /** The value as the file has it; undefined where a reference has it. */
  readonly written: string | undefined
  /** Whether it comes from a reference. */
  readonly reference: boolean
}

type Sentence = (error: ErrorObject, place: Place) => string
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

/** One sentence for each keyword of JSON Schema that a schema here is likely to use; for others Ajv's own words serve. */
const SENTENCES: Readonly<Record<string, Sentence>> = {
  additionalProperties: unknownField,
  unevaluatedProperties: unknownField,
  required: missingField,
  type: wrongType,
  enum: ({ params }, { written }) => choice(params.allowedValues, written),
  const: ({ params }) => `must be ${JSON.stringify(params.allowedValue)}`,
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
  uniqueItems: ({ params: { i, j } }) =>
    `must not say the same twice: entries ${Math.min(i, j) + 1} and ${Math.max(i, j) + 1} are equal`,
  minProperties: ({ params }) => (params.limit === 1 ? 'must not be an empty map' : `must have at least ${params.limit} fields`),
  maxProperties: ({ params }) => `must have at most ${params.limit} fields`,
  not: () => 'has a value that is not allowed here',
  dependentRequired: ({ params }) => `needs the field "${params.missingProperty}" where it has "${params.property}"`,
}

/** What is wrong, in words for the person who wrote the file. */
export function messageFor(error: ErrorObject, place: Place): string {
  const words = SENTENCES[error.keyword]?.(error, place) ?? error.message ?? 'is not valid'
  if (error.propertyName !== undefined) return `${JSON.stringify(error.propertyName)} in ${formatPath(place.path)} ${words}`
  return /^(unknown|missing) field/.test(words) ? words : `${formatPath(place.path)} ${words}`
}

/** `namespaces.openai.timeouts`, `chain[0].plugin` */
export function formatPath(path: Path): string {
  if (path.length === 0) return 'the table'
  return path
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${part}`))
    .join('')
    .replace(/^\./, '')
}

const within = (path: Path): string => (path.length === 0 ? 'at the top level' : `in ${formatPath(path)}`)

function unknownField({ params, parentSchema }: ErrorObject, { path }: Place): string {
  const field: string = params.additionalProperty ?? params.unevaluatedProperty
  const fields = Object.keys(parentSchema?.properties ?? {})
  const said = `unknown field ${JSON.stringify(field)} ${within(path)}`
  const near = didYouMean(field, fields)
  if (near !== '') return said + near
  const patterns = Object.keys(parentSchema?.patternProperties ?? {})
  if (patterns.length > 0) return `${said}; names here must match ${patterns.join(' or ')}`
  return fields.length === 0 ? `${said}; it takes none` : `${said}; it takes ${fields.join(', ')}`
}

function missingField({ params, parentSchema }: ErrorObject, { path }: Place): string {
  const field: string = params.missingProperty
  const [example] = examplesOf(parentSchema?.properties?.[field])
  const shown = typeof example === 'string' ? example : JSON.stringify(example)
  return `missing field "${field}" ${within(path)}; add it${example === undefined ? '' : `, for example ${field}: ${shown}`}`
}

function wrongType({ params, parentSchema, data }: ErrorObject, { reference }: Place): string {
  if (parentSchema?.const !== undefined) return `must be ${JSON.stringify(parentSchema.const)}`
  if (parentSchema?.title !== undefined)
    return `must be ${parentSchema.title}${suchAs(parentSchema)}, but is ${kindOfValue(data)}`
  const wanted = [params.type].flat().map(kindOf).join(' or ')
  const quotable = params.type === 'string' && ['number', 'boolean'].includes(typeof data)
  return `must be ${wanted}, but is ${kindOfValue(data)}${quotable ? `; write ${reference ? 'the reference' : 'it'} in quotes` : ''}`
}

function union({ schema, data }: ErrorObject, { written }: Place): string {
  const branches: readonly Record<string, unknown>[] = Array.isArray(schema) ? schema : []
  const choices = branches.map((branch) => branch.const)
  if (!choices.includes(undefined)) return choice(choices, written)
  const kinds = new Set(
    branches.map((branch) => branch.title ?? (branch.const === undefined ? kindOf(branch.type) : JSON.stringify(branch.const))),
  )
  return `must be ${[...kinds].join(' or ')}, but is ${kindOfValue(data)}`
}

function choice(values: readonly unknown[], written: string | undefined): string {
  // `429` may be written as a number and as text: that is one choice.
  const allowed = values.filter((value) => typeof value !== 'string' || !values.includes(Number(value)))
  const near = written === undefined ? '' : didYouMean(written, allowed.map(String))
  // A long list would drown the one name that helps.
  return near !== '' && allowed.length > 5
    ? `is none of its ${allowed.length} choices${near}`
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

/** What shows how a value looks. */
function examplesOf(schema: Schema): readonly unknown[] {
  if (Array.isArray(schema?.examples)) return schema.examples
  if (schema?.secret === true) return [`"\${env:NAME}"`]
  return [schema?.const, schema?.default].filter((value) => value !== undefined)
}

function kindOf(type: unknown): string {
  return KINDS[String(type)] ?? String(type)
}

function kindOfValue(value: unknown): string {
  if (value === null) return 'empty'
  if (typeof value === 'boolean') return 'a boolean'
  if (typeof value === 'number' && !Number.isInteger(value)) return 'a fraction'
  return kindOf(Array.isArray(value) ? 'array' : typeof value)
}
