import { isRecord, textOf, UpstreamError, type UpstreamRefusal } from 'unified-model-gateway/plugin'
import type { GenerateReply, WireError } from './wire.ts'

/** The HTTP status of each canonical code (google/rpc/code.proto). */
const STATUSES: ReadonlyMap<unknown, number> = new Map([
  ['INVALID_ARGUMENT', 400],
  ['OUT_OF_RANGE', 400],
  ['UNAUTHENTICATED', 401],
  ['PERMISSION_DENIED', 403],
  ['FAILED_PRECONDITION', 400],
  ['NOT_FOUND', 404],
  ['ABORTED', 409],
  ['ALREADY_EXISTS', 409],
  ['RESOURCE_EXHAUSTED', 429],
  ['CANCELLED', 503],
  ['UNAVAILABLE', 503],
  ['DEADLINE_EXCEEDED', 504],
  ['INTERNAL', 500],
  ['UNKNOWN', 500],
  ['DATA_LOSS', 500],
  ['UNIMPLEMENTED', 500],
])

/** Causes that only an error's message names, by its status. */
const CAUSES: readonly (readonly [status: number, message: RegExp, meaning: UpstreamRefusal])[] = [
  [400, /API key (?:not valid|expired|not found)/i, { status: 401 }],
  // The operator's account, not the request.
  [400, /location is not supported|enable billing/i, { status: 403 }],
  [
    400,
    /input token count.*exceeds|exceeds the maximum number of (?:input )?tokens/i,
    { status: 400, code: 'context_length_exceeded', param: 'messages' },
  ],
  [429, /\bprepa\w+ credits\b|\bspend\w* cap\b/i, { status: 429, code: 'insufficient_quota' }],
]

/** Reads an error reply. A reply of a proxy, without Google's body, is read by its status. */
export function toRefusal(reply: { readonly status: number; readonly body: string }): UpstreamRefusal {
  const error = errorIn(reply.body)
  return error === undefined ? { status: reply.status } : meaningOf(error, reply.status)
}

/** Reads an error reply of countTokens. Not every model has it ("… is not supported for countTokens", 404): such a reply says that there is no such endpoint. */
export function toCountRefusal(refusal: UpstreamRefusal): UpstreamRefusal {
  return refusal.status === 404 ? { ...refusal, code: 'unsupported_endpoint' } : refusal
}

/** Reads a reply, or an event of a stream. Throws `UpstreamError` for an error, `Error` for any other value. */
export function readReply(value: unknown): GenerateReply {
  const reply = unwrap(value)
  if (!isRecord(reply)) throw new Error('The reply is not one of generateContent.')
  if (reply.error != null) throw new UpstreamError(meaningOf(isRecord(reply.error) ? reply.error : {}, 500))
  return reply
}

function errorIn(body: string): WireError | undefined {
  try {
    const reply = unwrap(JSON.parse(body))
    return isRecord(reply) && isRecord(reply.error) ? reply.error : undefined
  } catch {
    return undefined
  }
}

/** Google's refusal of a stream without SSE is an array. */
function unwrap(value: unknown): unknown {
  return Array.isArray(value) ? value[0] : value
}

function meaningOf(error: WireError, status: number): UpstreamRefusal {
  const message = textOf(error.message)
  const details = Array.isArray(error.details) ? error.details.filter(isRecord) : []
  const known = STATUSES.get(error.status) ?? codeOf(error.code) ?? status
  const retryAfter = details.map(({ retryDelay }) => secondsOf(retryDelay)).find((seconds) => seconds !== undefined)
  return {
    ...(byDetails(known, details) ?? byMessage(known, message) ?? { status: known }),
    ...(message && { message }),
    ...(retryAfter !== undefined && { retryAfter }),
  }
}

/** By `google.rpc.ErrorInfo`, the reason a key is refused, and `google.rpc.QuotaFailure`, the exhausted quota. */
function byDetails(status: number, details: readonly Readonly<Record<string, unknown>>[]): UpstreamRefusal | undefined {
  if (status === 400 && details.some(({ reason }) => reason === 'API_KEY_INVALID')) return { status: 401 }
  const violations = details.flatMap(({ violations }) => (Array.isArray(violations) ? violations.filter(isRecord) : []))
  // A quota per minute refills soon; a quota per day must be raised by the operator.
  const isDaily = status === 429 && violations.some(({ quotaId }) => /PerDay/i.test(String(quotaId)))
  return isDaily ? { status, code: 'insufficient_quota' } : undefined
}

function byMessage(status: number, message: string): UpstreamRefusal | undefined {
  return CAUSES.find(([when, pattern]) => when === status && pattern.test(message))?.[2]
}

function codeOf(code: unknown): number | undefined {
  return typeof code === 'number' && Number.isInteger(code) && code >= 400 && code < 600 ? code : undefined
}

/** The seconds of `google.rpc.RetryInfo`: "34.4s". */
function secondsOf(delay: unknown): number | undefined {
  const seconds = typeof delay === 'string' ? /^(\d+(?:\.\d+)?)s$/.exec(delay)?.[1] : undefined
  return seconds === undefined ? undefined : Number(seconds)
}
