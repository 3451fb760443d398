import { ERRORS, type ErrorName, type Fault, type Row } from './error-table.ts'

/** What a content filter found of one kind: `hate`, `jailbreak`. */
export interface FilterFinding {
  readonly filtered?: boolean
  readonly detected?: boolean
  /** `safe`, `low`, `medium` or `high`. */
  readonly severity?: string
}

/**
 * Why Azure's content filters refused a prompt: replies that users have published have `content_filter_result` (dotnetstudioai.com, "Fix Azure OpenAI
 * Content Filter Error", 2026-03), Azure's OpenAPI document has `content_filter_results`.
 */
export interface InnerError {
  /** `ResponsibleAIPolicyViolation`. */
  readonly code?: string
  readonly content_filter_result?: Readonly<Record<string, FilterFinding>>
  readonly content_filter_results?: Readonly<Record<string, FilterFinding>>
}

/** An error as clients of OpenAI's protocols get it. */
export interface ErrorBody {
  readonly message: string
  readonly type: string
  readonly param: string | null
  readonly code: string | null
  readonly innererror?: InnerError
}

/** What an error may say beyond its row. */
export interface ErrorDetails {
  /** The body field at fault, as a path: `messages[0].content`. */
  readonly param?: string | null
  /** Fill the `{name}` places of the row's message. */
  readonly values?: Readonly<Record<string, string | number>>
  /** Replaces the row's status: only for upstream refusals that are passed on (400, 413, 422). */
  readonly status?: number
  /** Replaces the row's `code`: only for upstream refusals whose code is known to clients. */
  readonly code?: string | null
  /** Only for upstream refusals that are passed on. */
  readonly innererror?: InnerError | undefined
  /** Headers of the reply, lower case: `retry-after`, `allow`. */
  readonly headers?: Readonly<Record<string, string>>
  /** Tells the official SDKs whether to repeat; absent: the row decides. */
  readonly retry?: boolean
  /** For the log only, never for the client. */
  readonly cause?: unknown
}

/** An error whose words, status and code a client may see. Anything else that is thrown becomes `internal_error` or `plugin_error`. */
export class GatewayError extends Error {
  override readonly name = 'GatewayError'
  readonly row: ErrorName
  readonly status: number
  readonly type: string
  readonly code: string | null
  readonly param: string | null
  readonly innererror: InnerError | undefined
  readonly fault: Fault
  readonly headers: Readonly<Record<string, string>>
  readonly #details: ErrorDetails

  constructor(row: ErrorName, details: ErrorDetails = {}) {
    const entry: Row = ERRORS[row]
    const param = details.param ?? null
    super(fill(entry.message, { ...(param !== null && { param }), ...details.values }), { cause: details.cause })
    this.row = row
    this.#details = details
    this.status = details.status ?? entry.status
    this.type = entry.type
    this.code = details.code === undefined ? entry.code : details.code
    this.param = param
    this.innererror = details.innererror
    this.fault = entry.fault
    const retry = details.retry ?? entry.retry
    this.headers = {
      ...(this.status === 401 && { 'www-authenticate': 'Bearer' }),
      ...(entry.retryAfter !== undefined && { 'retry-after': String(entry.retryAfter) }),
      ...details.headers,
      ...(retry !== undefined && { 'x-should-retry': String(retry) }),
    }
  }

  /**
   * The same error, which tells the official SDKs not to repeat the call: the gateway has done so. It is another object: a plugin may throw one
   * error in several calls.
   */
  forbidRetry(): GatewayError {
    return new GatewayError(this.row, { ...this.#details, retry: false })
  }

  /** The JSON body of the reply, and of the error frame of a stream. */
  toJSON(): { error: ErrorBody } {
    const { message, type, param, code, innererror } = this
    return { error: { message, type, param, code, ...(innererror && { innererror }) } }
  }
}

/** The error that answers a call for which anything was thrown. */
export const asGatewayError = (thrown: unknown): GatewayError =>
  thrown instanceof GatewayError ? thrown : new GatewayError('internal_error', { cause: thrown })

function fill(template: string, values: Readonly<Record<string, string | number>>): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => String(values[name] ?? ''))
}

/** An error that only the log shows: by its code, in the shape of Node's (`COUNTER_CONTENDED`), since its message may quote anything. */
export class CodedError extends Error {
  override readonly name: string = 'CodedError'
  readonly code: string

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/** How an upstream can fail, by the code that the log's `cause` shows. What the HTTP client throws has its own codes. */
const UPSTREAM_FAILURES = {
  CONNECT_TIMEOUT: 'connect timeout',
  FIRST_BYTE_TIMEOUT: 'first byte timeout',
  IDLE_TIMEOUT: 'idle timeout',
  TOTAL_TIMEOUT: 'total timeout',
  CONTENT_ENCODING: 'unknown or wrong content encoding',
  REPLY_TOO_LARGE: 'reply too large',
  BODY_CUT: 'connection closed within the body',
  NO_COMPLETION: 'body is not a completion',
  NO_SUMMARY: 'answer has no summary of the conversation',
  NO_STREAM: 'body is a completion, not a stream',
  STREAM_CUT: 'stream ended without its end marker',
  EMPTY_STREAM: 'stream is empty',
  MALFORMED_EVENT: 'event is not a chunk',
  EVENT_TOO_LONG: 'event too long',
} as const

/** The cause of an error that an upstream is to blame for. */
export class UpstreamFailure extends Error {
  override readonly name = 'UpstreamFailure'
  readonly code: keyof typeof UPSTREAM_FAILURES

  constructor(code: keyof typeof UPSTREAM_FAILURES) {
    super(UPSTREAM_FAILURES[code])
    this.code = code
  }
}
