import type { Call } from 'unified-model-gateway/plugin'
import type { PacedReply } from './pace.ts'

/** A request that the sandbox cannot answer: the client gets a 400 with the reason. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  /** The body field at fault, as a path. */
  readonly param: string

  constructor(param: string, message: string) {
    super(message)
    this.param = param
  }
}

/** The reply that `make` returns, or the 400 for a `Refusal` that it throws. `param`: the field with the prompt. */
export function catchRefusal(call: Call, param: string, make: () => PacedReply): PacedReply {
  try {
    // Within the sandbox's own limit of bytes, a large body is one with many objects and arrays.
    if (call.large) throw new Refusal(param, 'The sandbox takes 8,192 objects and arrays in a request at most.')
    return make()
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return errorReply(400, { message: error.message, type: INVALID, param: error.param, code: 'invalid_value' })
  }
}

const INVALID = 'invalid_request_error'

/** OpenAI's `type` and `code` of a status. */
const BY_STATUS: Readonly<Record<number, { readonly type: string; readonly code: string }>> = {
  401: { type: INVALID, code: 'invalid_api_key' },
  404: { type: INVALID, code: 'model_not_found' },
  429: { type: 'requests', code: 'rate_limit_exceeded' },
}

/** The error that `sandbox: status=…` requests; undefined without that directive. `retry-after`: seconds. */
export function requestedError(directives: {
  readonly status?: number
  readonly 'retry-after'?: number
  readonly delay?: number
}): PacedReply | undefined {
  const { status, 'retry-after': retryAfter, delay } = directives
  if (status === undefined) return undefined
  const words = BY_STATUS[status] ?? { type: status < 500 ? INVALID : 'server_error', code: null }
  const message = `The sandbox fails with status ${status}, as requested.`
  const { headers, ...reply } = errorReply(status, { message, param: null, ...words })
  return {
    ...reply,
    headers: { ...headers, ...(retryAfter !== undefined && { 'retry-after': String(retryAfter) }) },
    pacing: { delay },
  }
}

/** OpenAI's error: always with all four members. */
interface WireError {
  readonly message: string
  readonly type: string
  readonly param: string | null
  readonly code: string | null
}

function errorReply(status: number, error: WireError): PacedReply {
  return { status, headers: { 'content-type': 'application/json' }, frames: [JSON.stringify({ error })], pacing: {} }
}
