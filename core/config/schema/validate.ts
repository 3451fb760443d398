import type { ErrorObject, SchemaValidateFunction, ValidateFunction } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { DataValidationCxt } from 'ajv/dist/types/index.js'
import type { TSchema } from 'typebox'
import { PluginError } from '../../plugins/registry.ts'
import { Secret } from '../../sdk/secrets.ts'
import { instant } from '../../text/times.ts'
import { asMap } from '../file/raw-config.ts'

/** A string that the schema calls a secret. */
export interface SecretField {
  /** JSON pointer from the checked value. */
  readonly pointer: string
  /** Puts a `Secret` in the string's place. */
  seal(): void
}

/** Names that a value declares, or one that it refers to, where its schema says so. */
export interface NameUse {
  /** What they are names of, such as `rate class`. */
  readonly kind: string
  /** JSON pointer from the checked value. */
  readonly pointer: string
  readonly declares: boolean
  readonly names: readonly string[]
}

/** What a schema has to say to a value. */
export interface Validation {
  readonly errors: readonly ErrorObject[]
  readonly secrets: readonly SecretField[]
  readonly mentions: readonly NameUse[]
}

/** What is noted beside the errors. */
interface Notes {
  readonly secrets: SecretField[]
  readonly mentions: NameUse[]
}

const OPTIONS = { strict: false, logger: false, formats: { instant: (text: string) => instant(text) !== undefined } } as const

/** Knows what a schema is. Kept, for that alone takes longer to compile than any plugin's schema. */
const SCHEMAS = new Ajv2020(OPTIONS)

/** The compiled ones: namespaces share their providers' schemas. */
const VALIDATORS = new WeakMap<TSchema, ValidateFunction>()

/**
 * Holds a value against a schema and fills the schema's defaults into it. Every error is told; of a union, only what its nearest
 * branch misses. Throws a `PluginError` where the schema itself is no JSON Schema.
 */
export function validate(schema: TSchema, value: unknown): Validation {
  const validate = VALIDATORS.get(schema) ?? compile(schema)
  VALIDATORS.set(schema, validate)
  const notes: Notes = { secrets: [], mentions: [] }
  validate.call(notes, value)
  return { errors: settleUnions(validate.errors ?? []), ...notes }
}

function compile(schema: TSchema): ValidateFunction {
  // One Ajv for each schema: two plugins may well give theirs the same `$id`.
  const ajv = new Ajv2020({
    ...OPTIONS,
    allErrors: true,
    verbose: true,
    useDefaults: true,
    passContext: true,
    validateSchema: false,
  })
  ajv.addKeyword({ keyword: 'secret', schemaType: 'boolean', errors: false, validate: noteSecret })
  ajv.addKeyword({ keyword: 'declares', schemaType: 'string', errors: false, validate: noteDeclared })
  ajv.addKeyword({ keyword: 'refersTo', schemaType: 'string', errors: false, validate: noteReferred })
  try {
    if (SCHEMAS.validateSchema(schema) !== true) {
      throw new Error(SCHEMAS.errorsText(SCHEMAS.errors?.slice(0, 1), { dataVar: 'schema' }))
    }
    return ajv.compile(closed(schema))
  } catch (error) {
    throw new PluginError(`has a schema that is no JSON Schema: ${(error as Error).message}`, { cause: error })
  }
}

/** The keyword `secret`: notes where the value stands. Ajv hands on the context of the validation as `this`. */
const noteSecret: SchemaValidateFunction = function noteSecret(this: Notes, isSecret, _value, _schema, place) {
  if (isSecret === true && place) this.secrets.push(secretPlace(place))
  return true
}

/** The keyword `declares`: the keys of this map are names of a kind. */
const noteDeclared: SchemaValidateFunction = function noteDeclared(this: Notes, kind, value, _schema, place) {
  if (place) this.mentions.push({ kind, pointer: place.instancePath, declares: true, names: Object.keys(asMap(value)) })
  return true
}

/** The keyword `refersTo`: this text is such a name. */
const noteReferred: SchemaValidateFunction = function noteReferred(this: Notes, kind, value, _schema, place) {
  if (place && typeof value === 'string')
    this.mentions.push({ kind, pointer: place.instancePath, declares: false, names: [value] })
  return true
}

function secretPlace({ parentData, parentDataProperty, instancePath }: DataValidationCxt): SecretField {
  return {
    pointer: instancePath,
    seal() {
      const value: unknown = parentData[parentDataProperty]
      if (typeof value === 'string') parentData[parentDataProperty] = new Secret(value)
    },
  }
}

type Part = Readonly<Record<string, unknown>>

/**
 * The schema with every map closed that does not say `additionalProperties` itself: a misspelt field is an error at every level,
 * also in the config of a plugin whose author did not think of it. Maps that an `allOf` puts together are left alone.
 */
export function closed(schema: TSchema): TSchema {
  return closePart(schema as Part) as TSchema
}

function closePart(part: Part): Part {
  const { properties, patternProperties, additionalProperties, items } = part
  // Branches beside properties speak of the same map, each of a part of it.
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

/**
 * Ajv tells of a failed `anyOf` or `oneOf` what every branch misses. Of these, one branch's errors are worth reading: the only
 * one whose type fits the value. Else the union speaks for itself.
 */
export function settleUnions(errors: readonly ErrorObject[]): readonly ErrorObject[] {
  let settled = errors
  // A union stands after all that its branches say, an outer one after its inner ones.
  for (const union of errors.toReversed()) {
    if (isUnion(union) && settled.includes(union)) settled = settle(union, settled)
  }
  return settled
}

function isUnion({ keyword }: ErrorObject): boolean {
  return keyword === 'anyOf' || keyword === 'oneOf'
}

function settle(union: ErrorObject, errors: readonly ErrorObject[]): readonly ErrorObject[] {
  const prefix = `${union.schemaPath}/`
  const inside = errors.filter(
    (error) => error.schemaPath.startsWith(prefix) && error.instancePath.startsWith(union.instancePath),
  )
  const branches = Map.groupBy(inside, ({ schemaPath }) => schemaPath.slice(prefix.length).split('/', 1)[0])
  const near = [...branches.values()].filter((branch) => !branch.some((error) => missesWholly(error, union)))
  const kept = near.length === 1 ? near[0] : [union]
  return errors.filter((error) => kept?.includes(error) || (error !== union && !inside.includes(error)))
}

/** Whether an error says that the value is another kind of thing altogether. */
function missesWholly({ keyword, instancePath }: ErrorObject, union: ErrorObject): boolean {
  return instancePath === union.instancePath && ['type', 'const', 'enum'].includes(keyword)
}
