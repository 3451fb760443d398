// Not by the plugin API: every command of the command line would load TypeBox with it.
import { GatewayError } from '../errors.ts'
import { PluginFailure } from '../plugins/faults.ts'
import { UpstreamError } from '../sdk/refusals.ts'

/** The states of SQL, by which PostgreSQL names its errors: 57P01. */
const SQLSTATE = /^[0-9A-Z]{5}$/
/** The shapes of Node's, undici's, OpenSSL's and SQLite's codes: ECONNRESET, UND_ERR_SOCKET, CERT_HAS_EXPIRED, SQLITE_BUSY. */
const CODE = /^(?:E[A-Z]{2,16}|[A-Z]{2,16}(?:_[A-Z0-9]{1,24}){1,8})$/
const CLASS = /^(?:[A-Z][A-Za-z]{0,40})?(?:Error|Exception)$/
const PLACE = /\(?((?:file:\/\/|node:|\/|[A-Za-z]:\\)[^()\s]*:\d+:\d+)\)?$/
/** The text before the message: `TypeError: `, or the class alone if the message is empty. */
const STACK_OPENING = /^\S*(?:: )?$/
const DEEPEST = 5

/**
 * Reduces a thrown value to a few safe words for the log: a code (`ECONNREFUSED`), or else the class and the place that threw
 * (`TypeError at /srv/audit.ts:12:5`); after the plugin's name if a plugin threw it. Never the message, which may quote a body, a key
 * or a reply: errors of the gateway that say more have a `code` of the same shape. Never throws.
 */
export function describeCause(error: unknown): string | undefined {
  if (error === undefined) return undefined
  if (error instanceof PluginFailure) return `${error.plugin}: ${describeCause(error.cause) ?? 'thrown undefined'}`
  try {
    return codeOf(error) ?? nameOf(error)
  } catch {
    return 'an error that cannot be read'
  }
}

/** The first code of the error and its chain of causes. */
function codeOf(error: unknown): string | undefined {
  let current = error
  for (let depth = 0; depth < DEEPEST && typeof current === 'object' && current !== null; depth++) {
    if (current instanceof GatewayError) return current.row
    if (current instanceof UpstreamError) return `UpstreamError ${Math.trunc(current.refusal.status)}`
    const { code, cause } = current as { readonly code?: unknown; readonly cause?: unknown }
    if (typeof code === 'string' && CODE.test(code)) return code
    if (typeof code === 'string' && SQLSTATE.test(code)) return `SQLSTATE ${code}`
    current = cause
  }
  return undefined
}

function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return `thrown ${error === null ? 'null' : typeof error}`
  // Many classes leave their `name` as it is in Error: then only the class itself says what went wrong.
  const names = [error.name, error.constructor?.name].filter((name) => typeof name === 'string' && CLASS.test(name))
  const name = names.find((each) => each !== 'Error') ?? 'Error'
  const place = placeOf(error)
  return place === undefined ? name : `${name} at ${place}`
}

/** The first stack frame's file, line and column. A stack begins with the message, which may imitate frames: it is cut off first. */
function placeOf({ stack = '', message }: Error): string | undefined {
  const start = stack.indexOf(`${message}\n`)
  if (start < 0 || !STACK_OPENING.test(stack.slice(0, start))) return undefined
  const frames = stack.slice(start + message.length).split('\n')
  return frames.map((frame) => PLACE.exec(frame)?.[1]).find((place) => place !== undefined)
}
