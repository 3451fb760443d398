import { isRecord } from './json.ts'

/** What an upstream's refusal means, in OpenAI's terms. */
export interface UpstreamRefusal {
  /** The HTTP status OpenAI would give it: 400, 401, 404, 429, 500, 503 … */
  readonly status: number
  /**
   * OpenAI's error code: `insufficient_quota` (with 429) for the operator's own exhausted account, `context_length_exceeded`; or the
   * gateway's own `unsupported_endpoint` (with 404), if the upstream does not serve the model at the requested endpoint.
   */
  readonly code?: string
  readonly param?: string
  /**
   * The client sees it only if the request is at fault (400, 413, 422, or 403 for a prompt that is not allowed); core removes URLs, keys and
   * ids. Its words also say whether the credential or the request was refused.
   */
  readonly message?: string
  /** What Azure's content filters found, as its error has it. With the message, the client sees what core knows of it. */
  readonly innererror?: Readonly<Record<string, unknown>>
  /** Seconds. Absent: core reads `retry-after-ms` and `retry-after`. */
  readonly retryAfter?: number
}

/** A refusal inside a reply: an error event, or a 200 with an error in its body. Thrown by translators. */
export class UpstreamError extends Error {
  override readonly name = 'UpstreamError'
  readonly refusal: UpstreamRefusal

  constructor(refusal: UpstreamRefusal) {
    super(refusal.message ?? `upstream error ${refusal.status}`)
    this.refusal = refusal
  }
}

/** Reads OpenAI's error body and the variants of vendors: in an array, bare, as a text, with a list of fields. The status is HTTP's. */
export function readRefusal(status: number, headers: Readonly<Record<string, string>>, body: string): UpstreamRefusal {
  const retryAfter = readRetryAfter(headers)
  return { ...errorFields(parse(body)), status, ...(retryAfter !== undefined && { retryAfter }) }
}

/** The refusal in the `error` member of a 200 or of a stream's event. The status is the error's own, else 502. */
export function refusalOf(body: unknown): UpstreamRefusal {
  const fields = errorFields(body)
  return { ...fields, status: fields.status ?? STATUS_BY_CODE.get(fields.code) ?? STATUS_BY_CODE.get(fields.type) ?? 502 }
}

/** The error in a choice of an OpenAI-like reply (OpenRouter, when a provider breaks off); undefined if there is none. */
export function choiceError(choice: { readonly error?: unknown; readonly finish_reason?: unknown }): UpstreamRefusal | undefined {
  if (choice.error != null) return refusalOf(choice)
  return choice.finish_reason === 'error' ? { status: 502 } : undefined
}

const STATUS_BY_CODE: ReadonlyMap<string | undefined, number> = new Map([
  ['invalid_request_error', 400],
  ['context_length_exceeded', 400],
  ['content_filter', 400],
  ['authentication_error', 401],
  ['invalid_api_key', 401],
  ['permission_error', 403],
  ['not_found_error', 404],
  ['model_not_found', 404],
  ['rate_limit_error', 429],
  ['rate_limit_exceeded', 429],
  ['insufficient_quota', 429],
  ['overloaded_error', 503],
  ['timeout', 504],
])

interface ErrorFields {
  readonly status?: number
  readonly type?: string
  readonly code?: string
  readonly param?: string
  readonly message?: string
  readonly innererror?: Readonly<Record<string, unknown>>
}

function errorFields(body: unknown): ErrorFields {
  const first: unknown = Array.isArray(body) ? body[0] : body
  if (typeof first === 'string') return { message: first }
  if (!isRecord(first)) return {}
  // xAI has a text, and the code beside it.
  const error = isRecord(first.error) ? first.error : { ...first, message: first.error ?? wordsIn(first) }
  const { code, type, param, status, http_code: http, innererror } = error
  const number = [code, status, http].map(Number).find((value) => Number.isInteger(value) && value >= 400 && value < 600)
  const { message, field } = readWords(wordsIn(error))
  const named = typeof param === 'string' ? param : field
  return {
    ...(number !== undefined && { status: number }),
    ...(typeof type === 'string' && { type }),
    ...(typeof code === 'string' && { code }),
    ...(named !== undefined && { param: named }),
    ...(message !== undefined && { message }),
    ...(isRecord(innererror) && { innererror }),
  }
}

/** The words of an error: `Message` is AWS's, `detail` FastAPI's and that of RFC 9457. */
const wordsIn = ({ message, Message, detail, title }: Readonly<Record<string, unknown>>): unknown =>
  message ?? Message ?? detail ?? title

/** A text; or FastAPI's list of refused fields: `[{loc: ["body", "messages", 0], msg}]`, at Mistral in a `detail` of its own. */
function readWords(words: unknown): { readonly message?: string; readonly field?: string } {
  if (typeof words === 'string') return { message: words }
  if (Array.isArray(words)) return readWords(words[0])
  if (!isRecord(words)) return {}
  const { msg, loc } = words
  if (typeof msg !== 'string') return readWords(wordsIn(words))
  if (!Array.isArray(loc)) return { message: msg }
  const field = loc.slice(1).join('.')
  return { message: `${msg}: ${field}`, field }
}

/** `retry-after-ms`, or `retry-after` in seconds or as an HTTP date (RFC 9110 §10.2.3), as seconds. */
export function readRetryAfter(headers: Readonly<Record<string, string>>): number | undefined {
  const ms = Number.parseFloat(headers['retry-after-ms'] ?? '')
  if (Number.isFinite(ms)) return ms / 1000
  const value = headers['retry-after']
  if (value === undefined) return undefined
  const seconds = Number(value)
  if (Number.isFinite(seconds)) return seconds
  const date = Date.parse(value)
  return Number.isNaN(date) ? undefined : (date - Date.now()) / 1000
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * An error word of an upstream as a code for the log, `INVALID_GRANT` for `invalid_grant`: the log writes the `code` of an error's
 * causes, and nothing else of them. Undefined for anything but a single word.
 */
export function errorCode(word: unknown): string | undefined {
  return typeof word === 'string' && /^\w{2,40}$/.test(word) ? word.toUpperCase() : undefined
}
