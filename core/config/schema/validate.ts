import type { ErrorObject, SchemaValidateFunction, ValidateFunction } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { DataValidationCxt } from 'ajv/dist/types/index.js'
import type { TSchema } from 'typebox'
import { PluginError } from '../../plugins/registry.ts'
import { Secret } from '../../sdk/secrets.ts'
import { instant, isTimeZone } from '../../text/times.ts'
import { asMap } from '../file/raw-config.ts'
import { closed } from './closed.ts'

/** A string that the schema declares secret. */
export interface SecretField {
  /** JSON pointer from the validated value. */
  readonly pointer: string
  /** Replaces the string by a `Secret`. */
  seal(): void
}

/** Names that a value declares, or one name that it refers to, by the keywords `declares` and `refersTo` of its schema. */
export interface NameUse {
  /** The kind of the names, such as `rate class`. */
  readonly kind: string
  /** JSON pointer from the validated value. */
  readonly pointer: string
  readonly declares: boolean
  readonly names: readonly string[]
}

/** The result of validating a value. */
export interface Validation {
  readonly errors: readonly ErrorObject[]
  readonly secrets: readonly SecretField[]
  readonly names: readonly NameUse[]
}

/** Validates a value against a schema, and fills in the schema's defaults. Reports all errors; of a union, only those of the nearest branch. */
export function validate(schema: TSchema, value: unknown): Validation {
  const validator = validatorOf(schema)
  const found: Found = { secrets: [], names: [] }
  validator.call(found, value)
  return { errors: narrowUnions(validator.errors ?? []), ...found }
}

/** Compiled schemas: namespaces share the schemas of their providers. */
const VALIDATORS = new WeakMap<TSchema, ValidateFunction>()

function validatorOf(schema: TSchema): ValidateFunction {
  const validator = VALIDATORS.get(schema) ?? compile(schema)
  VALIDATORS.set(schema, validator)
  return validator
}

const FORMATS = { instant: (text: string) => instant(text) !== undefined, 'time-zone': isTimeZone }

const OPTIONS = { strict: false, logger: false, formats: FORMATS } as const

function compile(schema: TSchema): ValidateFunction {
  // One Ajv for each schema: two plugins may use the same `$id`.
  const ajv = new Ajv2020({
    ...OPTIONS,
    allErrors: true,
    verbose: true,
    useDefaults: true,
    passContext: true,
    meta: false,
    validateSchema: false,
    // Optimizing takes longer than it saves: each schema is used a few times.
    code: { optimize: false },
  })
  ajv.addKeyword({ keyword: 'secret', schemaType: 'boolean', errors: false, validate: collectSecret })
  ajv.addKeyword({ keyword: 'declares', schemaType: 'string', errors: false, validate: collectDeclared })
  ajv.addKeyword({ keyword: 'refersTo', schemaType: 'string', errors: false, validate: collectReferred })
  return ajv.compile(closed(schema))
}

let meta: Ajv2020 | undefined

/**
 * Throws a `PluginError` if the schema of a plugin is not valid JSON Schema. Not for those that come with the gateway, which a test
 * checks: the meta-schema takes longer to compile than all of them.
 */
export function checkSchema(schema: TSchema): void {
  meta ??= new Ajv2020(OPTIONS)
  try {
    if (meta.validateSchema(schema) !== true) throw new Error(meta.errorsText(meta.errors?.slice(0, 1), { dataVar: 'schema' }))
    validatorOf(schema)
  } catch (error) {
    throw new PluginError(`has a schema that is not valid JSON Schema: ${(error as Error).message}`, { cause: error })
  }
}

/** Collected by the keywords below. Ajv passes it to them as `this`. */
interface Found {
  readonly secrets: SecretField[]
  readonly names: NameUse[]
}

/** The keyword `secret`: the value is a secret. */
const collectSecret: SchemaValidateFunction = function collectSecret(this: Found, isSecret, _value, _schema, context) {
  if (isSecret === true && context) this.secrets.push(secretField(context))
  return true
}

/** The keyword `declares`: the keys of this map are names of a kind. */
const collectDeclared: SchemaValidateFunction = function collectDeclared(this: Found, kind, value, _schema, context) {
  if (context) this.names.push({ kind, pointer: context.instancePath, declares: true, names: Object.keys(asMap(value)) })
  return true
}

/** The keyword `refersTo`: this string is a name of a kind. */
const collectReferred: SchemaValidateFunction = function collectReferred(this: Found, kind, value, _schema, context) {
  if (context && typeof value === 'string')
    this.names.push({ kind, pointer: context.instancePath, declares: false, names: [value] })
  return true
}

function secretField({ parentData, parentDataProperty, instancePath }: DataValidationCxt): SecretField {
  return {
    pointer: instancePath,
    seal() {
      const value: unknown = parentData[parentDataProperty]
      if (typeof value === 'string') parentData[parentDataProperty] = new Secret(value)
    },
  }
}

/**
 * For a failed `anyOf` or `oneOf`, Ajv reports the errors of every branch. Only those of one branch are useful: the only branch whose
 * type fits the value. If there is no such branch, the error of the union itself is kept.
 */
function narrowUnions(errors: readonly ErrorObject[]): readonly ErrorObject[] {
  let narrowed = errors
  // A union's error comes after those of its branches, and an outer union's after those of the inner ones.
  for (const union of errors.toReversed()) {
    if (isUnion(union) && narrowed.includes(union)) narrowed = narrow(union, narrowed)
  }
  return narrowed
}

function isUnion({ keyword }: ErrorObject): boolean {
  return keyword === 'anyOf' || keyword === 'oneOf'
}

function narrow(union: ErrorObject, errors: readonly ErrorObject[]): readonly ErrorObject[] {
  const prefix = `${union.schemaPath}/`
  const inside = errors.filter(
    (error) => error.schemaPath.startsWith(prefix) && error.instancePath.startsWith(union.instancePath),
  )
  const branches = Map.groupBy(inside, ({ schemaPath }) => schemaPath.slice(prefix.length).split('/', 1)[0])
  const near = [...branches.values()].filter((branch) => !branch.some((error) => isOfOtherType(error, union)))
  const kept = near.length === 1 ? near[0] : [union]
  return errors.filter((error) => kept?.includes(error) || (error !== union && !inside.includes(error)))
}

/** Whether an error says that the value of the union has another type. */
function isOfOtherType({ keyword, instancePath }: ErrorObject, union: ErrorObject): boolean {
  return instancePath === union.instancePath && ['type', 'const', 'enum'].includes(keyword)
}
