import type { GatewayError } from '../../errors.ts'
import type { ClientWire } from '../client-protocol.ts'
import { NAMES } from './names.ts'
import { frameOf } from './stream.ts'

/** Anthropic's type of an error by its status ("Errors", platform.claude.com). Other client errors are `invalid_request_error`. */
const TYPES: ReadonlyMap<number, string> = new Map([
  [401, 'authentication_error'],
  [403, 'permission_error'],
  [404, 'not_found_error'],
  [408, 'timeout_error'],
  [413, 'request_too_large'],
  [429, 'rate_limit_error'],
  [503, 'overloaded_error'],
  [504, 'timeout_error'],
])

/** What clients of the Messages API get from the gateway itself. */
export const MESSAGES_WIRE: ClientWire = {
  error: toErrorBody,
  errorFrame: (error) => frameOf(toErrorBody(error)),
  heartbeat: frameOf({ type: 'ping' }),
  requestIdHeader: 'request-id',
}

/** As in every reply of the gateway, the id of the request is a header and not in the body. */
function toErrorBody(error: GatewayError) {
  const type = TYPES.get(error.status) ?? (error.status < 500 ? 'invalid_request_error' : 'api_error')
  const details = error.param === 'thread' && { details: NO_THREADS }
  return { type: 'error' as const, error: { type, message: inOwnNames(error), ...details }, request_id: null }
}

/** By this code the SDKs know that they must send all of a conversation (`lib/internal/threads` of @anthropic-ai/sdk 1.11). */
const NO_THREADS = { error_code: 'thread_unsupported_request', unsupported: null }

/** The message with the client's name of the parameter. */
function inOwnNames({ message, param }: GatewayError): string {
  return param !== null && Object.hasOwn(NAMES, param) ? message.replaceAll(`'${param}'`, `'${NAMES[param]}'`) : message
}
