import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import type { TObject } from 'typebox'
import { EMAIL } from '../../accounts/user.ts'
import { instant } from '../../config/instant.ts'
import { GatewayError } from '../../errors.ts'
import { explain } from '../check.ts'

/** Holds what a client sent against its row's schema. Throws the 400 that names the field. */
export type FieldCheck = (fields: Record<string, unknown>) => void

const FORMATS = {
  'date-time': (text: string) => instant(text) !== undefined,
  email: EMAIL,
}

const BODIES = new Ajv({ strict: false, verbose: true, formats: FORMATS })
const QUERIES = new Ajv({ strict: false, verbose: true, formats: FORMATS, coerceTypes: true })

/** Compiles the check of a body. It is closed, unless its schema says otherwise: what is not named there is refused. */
export const compileBody = (schema: TObject): FieldCheck => compile(BODIES, schema)

/** Compiles the check of a query: closed too, and texts become the numbers and booleans that they spell. */
export const compileQuery = (schema: TObject): FieldCheck => compile(QUERIES, schema)

function compile(ajv: Ajv, schema: TObject): FieldCheck {
  let validate: ValidateFunction | undefined
  return function check(fields) {
    // All of them at the start would cost it a tenth of a second, and most are never needed.
    validate ??= ajv.compile({ additionalProperties: false, ...schema })
    if (!validate(fields)) throw refusal(validate.errors![0]!)
  }
}

function refusal(error: ErrorObject): GatewayError {
  if (error.keyword !== 'additionalProperties') return explain(error)
  return new GatewayError('unknown_parameter', { param: String(error.params.additionalProperty) })
}
