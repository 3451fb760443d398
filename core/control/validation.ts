import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import type { Context } from 'koa'
import type { TObject } from 'typebox'
import { EMAIL_PATTERN } from '../accounts/user.ts'
import { type BodyLimits, readBody } from '../call/read-body.ts'
import { GatewayError } from '../errors.ts'
import { UNCOUNTED } from '../protocol/call.ts'
import { scanObject } from '../protocol/json.ts'
import { checkDuplicates } from '../protocol/keys.ts'
import { explain } from '../protocol/validation.ts'
import { instant } from '../text/times.ts'

/** Operators are served also if there is no room for calls. */
const LIMITS: BodyLimits = { max: 256 * 1024, memory: UNCOUNTED }

/** Validates the fields of a request. Throws the 400 that names the invalid one. */
type Validate = (fields: Record<string, unknown>) => void

const FORMATS = {
  'date-time': (text: string) => instant(text) !== undefined,
  email: EMAIL_PATTERN,
}

const OPTIONS = { strict: false, verbose: true, formats: FORMATS, meta: false, validateSchema: false } as const
const BODIES = new Ajv(OPTIONS)
const QUERIES = new Ajv({ ...OPTIONS, coerceTypes: true })

/** Reads a JSON body and validates it. Throws a GatewayError with status 4xx. */
export function bodyReader(schema: TObject | undefined): (ctx: Context) => Promise<unknown> {
  const validate = compile(BODIES, schema)
  return async function readJson(ctx) {
    const bytes = await readBody(ctx.req, ctx.res, LIMITS)
    const body = parse(bytes.length === 0 ? Buffer.from('{}') : bytes)
    validate(body)
    return body
  }
}

/** Validates the query, its texts converted to the numbers and booleans of the schema. Throws a GatewayError with status 400. */
export function queryReader(schema: TObject | undefined): (ctx: Context) => unknown {
  const validate = compile(QUERIES, schema)
  return function readQuery(ctx) {
    const query = { ...ctx.query }
    validate(query)
    return query
  }
}

/** The object that bytes of JSON are. Throws a GatewayError (400), also for a name that stands twice. */
function parse(bytes: Buffer): Record<string, unknown> {
  let names: readonly string[]
  let body: Record<string, unknown>
  try {
    names = scanObject(bytes).members.map(({ key }) => key)
    body = JSON.parse(bytes.toString())
  } catch {
    throw new GatewayError('invalid_json')
  }
  checkDuplicates(names)
  return body
}

/** Unknown fields are refused, unless the schema says otherwise. */
function compile(ajv: Ajv, schema: TObject | undefined): Validate {
  let validate: ValidateFunction | undefined
  return function check(fields) {
    // Compiled on first use: all schemas at the start take a tenth of a second, and most are never needed.
    validate ??= ajv.compile({ type: 'object', properties: {}, additionalProperties: false, ...schema })
    if (!validate(fields)) throw refusal(validate.errors![0]!)
  }
}

function refusal(error: ErrorObject): GatewayError {
  if (error.keyword !== 'additionalProperties') return explain(error)
  return new GatewayError('unknown_parameter', { param: String(error.params.additionalProperty) })
}
