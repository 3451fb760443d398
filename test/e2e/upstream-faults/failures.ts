/** What a client and an operator see of a failed call. */
export interface Failure {
  readonly status: number
  readonly type: string
  readonly code: string | null
  /** `x-should-retry`; absent: the SDK decides by the status. */
  readonly shouldRetry?: 'false'
  /** The attempt's `result` in the metrics. */
  readonly result: string
  /** The call's `outcome` in the metrics. */
  readonly outcome: string
}

const server = (status: number, code: string, more: Partial<Failure> = {}): Failure => ({
  status,
  type: 'server_error',
  code,
  result: code,
  outcome: 'upstream_error',
  ...more,
})

const final = { shouldRetry: 'false' } as const

/** The contract of upstream faults, written down once more: a change of the error table is a change for clients. */
export const UNREACHABLE = server(502, 'upstream_unreachable')
export const TIMEOUT = server(504, 'upstream_timeout', { outcome: 'timeout' })
export const DISCONNECTED = server(502, 'upstream_disconnected')
export const INVALID = server(502, 'upstream_invalid_response')
export const ERROR = server(502, 'upstream_error')
export const OVERLOADED = server(503, 'upstream_overloaded')
export const AUTHENTICATION = server(400, 'upstream_authentication_error', { ...final, type: 'invalid_request_error' })
export const MODEL_NOT_FOUND = server(400, 'upstream_model_not_found', { ...final, type: 'invalid_request_error' })
export const QUOTA = server(429, 'insufficient_quota', {
  ...final,
  type: 'insufficient_quota',
  result: 'upstream_quota_exceeded',
  outcome: 'rate_limited',
})
export const RATE_LIMITED = server(429, 'rate_limit_exceeded', {
  type: 'rate_limit_error',
  result: 'upstream_rate_limited',
  outcome: 'rate_limited',
})

/** A refusal that is the client's own affair. */
export const rejected = (status: number, code: string | null = null): Failure =>
  server(status, '', { type: 'invalid_request_error', code, result: 'upstream_rejected', outcome: 'client_error' })

/** A model that the table passes through by name: the client named what is not there. */
export const unknownModel = server(404, 'model_not_found', { type: 'invalid_request_error', outcome: 'client_error' })
