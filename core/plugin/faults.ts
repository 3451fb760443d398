/** The two refusals of a request that cannot be translated. `param` is a path in the client's body: `messages[0].content`. */
import { GatewayError } from '../errors.ts'

/** 400 for what OpenAI takes and this upstream does not. `hint` is a sentence that says what to do instead. */
export function unsupportedParameter(param: string, hint: string): GatewayError {
  return new GatewayError('unsupported_parameter', { param, values: { detail: ` ${hint}` } })
}

/** 400 for what OpenAI would not take either. `detail` completes "Invalid value for 'param': …". */
export function invalidValue(param: string, detail: string): GatewayError {
  return new GatewayError('invalid_value', { param, values: { detail } })
}
