import { Ajv, type ErrorObject, type Options, type ValidateFunction } from 'ajv'
import { GatewayError } from '../errors.ts'

/** Checks a value against a request schema; throws OpenAI's 400 error, naming the field. */
export type RequestCheck = (body: Readonly<Record<string, unknown>>) => void

const OPTIONS = {
  strict: false,
  // Compiling the meta-schema takes as long as compiling all requests.
  meta: false,
  validateSchema: false,
  strictNumbers: true,
  allowUnionTypes: true,
  verbose: true,
} satisfies Options

/** Returns the check of a request schema, which is compiled at its first use. Top-level members that are null count as absent. */
export function checkOf(schema: object): RequestCheck {
  let validate: ValidateFunction | undefined
  return function check(body) {
    validate ??= new Ajv(OPTIONS).compile(schema)
    if (validate(withoutNulls(body))) return
    // `if` reports only that its branch failed; the branch reports why.
    throw explain(validate.errors!.find((error) => error.keyword !== 'if')!)
  }
}

function withoutNulls(body: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  if (!Object.values(body).includes(null)) return body
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null))
}

/** Converts an ajv error to OpenAI's 400 error, naming the field. The Ajv must be `verbose`. */
export function explain(error: ErrorObject): GatewayError {
  const param = pathOf(error.instancePath)
  switch (error.keyword) {
    case 'required':
      return missing(param, String(error.params.missingProperty))
    case 'type':
      return new GatewayError('invalid_type', {
        param,
        values: { expected: expected(error.params.type), actual: named(error.data) },
      })
    case 'enum':
      return invalid(param, `expected one of ${(error.params.allowedValues as string[]).map((value) => `'${value}'`).join(', ')}`)
    case 'minItems':
      return invalid(param, `expected an array with at least ${error.params.limit} element, but got an empty array`)
    default:
      return invalid(param, `it ${error.message}`)
  }
}

const invalid = (param: string, detail: string): GatewayError => new GatewayError('invalid_value', { param, values: { detail } })

function missing(parent: string, property: string): GatewayError {
  if (parent === '' && property === 'model') return new GatewayError('missing_model', { param: 'model' })
  return new GatewayError('missing_required_parameter', { param: parent === '' ? property : `${parent}.${property}` })
}

/** Writes `/messages/0/content` as OpenAI does: `messages[0].content`. */
const pathOf = (pointer: string): string =>
  pointer
    .slice(1)
    .split('/')
    .map((step) => (/^\d+$/.test(step) ? `[${step}]` : `.${step.replaceAll('~1', '/').replaceAll('~0', '~')}`))
    .join('')
    .replace(/^\./, '')

const NAMES: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  integer: 'an integer',
  boolean: 'a boolean',
  array: 'an array',
  object: 'an object',
  null: 'null',
}

const expected = (types: unknown): string =>
  [types]
    .flat()
    .filter((type) => type !== 'null')
    .map((type) => NAMES[String(type)])
    .join(' or ')

function named(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  // JSON numbers can overflow: `1e999`.
  if (value === Infinity || value === -Infinity) return 'a number that is too large'
  if (Number.isInteger(value)) return 'an integer'
  return NAMES[typeof value] ?? 'something else'
}
