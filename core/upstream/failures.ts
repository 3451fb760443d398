/**
 * Maps an upstream's statuses, error bodies and socket errors to rows of the error table. A client receives an upstream's message
 * only if the client caused the error, and only cleaned.
 */

import type { ErrorName } from '../error-table.ts'
import { type FilterFinding, GatewayError, type InnerError, UpstreamFailure } from '../errors.ts'
import { modelNotFound } from '../protocol/call.ts'
import { readOverflow } from '../protocol/context-overflow.ts'
import { type Call, Secret, UpstreamError, type UpstreamRefusal, type UpstreamRequest } from '../sdk/api.ts'
import { isRecord } from '../sdk/json.ts'
import { blameOf } from './blame.ts'

const BY_STATUS: ReadonlyMap<number, ErrorName> = new Map([
  [400, 'upstream_rejected'],
  [401, 'upstream_authentication_error'],
  [402, 'upstream_quota_exceeded'],
  [403, 'upstream_authentication_error'],
  [404, 'upstream_model_not_found'],
  [408, 'upstream_overloaded'],
  [409, 'upstream_overloaded'],
  [413, 'upstream_rejected'],
  [422, 'upstream_rejected'],
  [425, 'upstream_overloaded'],
  [429, 'upstream_rate_limited'],
  [503, 'upstream_overloaded'],
  [529, 'upstream_overloaded'],
])

/** Range of `retry-after`, in seconds: below the SDKs' own limit, above which they ignore it. */
const RETRY_AFTER = { least: 1, most: 60 }

/** The call's data for the error of a refusal. */
export interface RefusalContext {
  /** The requested id. */
  readonly asked: string
  /** The requested id, if the table passes it through instead of naming the model. */
  readonly passedThrough: string | undefined
  /** A model that the caller may call, with a name like this one. */
  readonly nearest?: ((name: string) => string | undefined) | undefined
  /** Values sent upstream that an upstream may quote: the client must not receive them. */
  readonly hidden: readonly string[]
}

/** The error for an upstream's refusal. */
export function refusalError(told: UpstreamRefusal, { asked, passedThrough, nearest, hidden }: RefusalContext): GatewayError {
  const refusal = withOverflow(told)
  const row = rowOf(refusal)
  const cause = new UpstreamError(refusal)
  if (row === 'upstream_rejected') {
    return new GatewayError(row, {
      status: refusal.status,
      code: knownCode(refusal.code, hidden),
      param: knownParam(refusal.param, hidden),
      innererror: knownInnerError(refusal.innererror, hidden),
      values: { detail: clean(refusal.message ?? '', hidden) || 'The upstream refused the request as invalid.' },
      cause,
    })
  }
  if (row === 'unsupported_endpoint') return new GatewayError(row, { param: 'model', values: { model: asked }, cause })
  if (row === 'upstream_model_not_found' && passedThrough !== undefined)
    return modelNotFound(passedThrough, nearest?.(passedThrough), cause)
  if (row === 'upstream_rate_limited') return rateLimitError(wait(refusal.retryAfter), cause)
  const hasRetryAfter = row === 'upstream_overloaded' && refusal.retryAfter !== undefined
  return new GatewayError(row, { ...(hasRetryAfter && { headers: { 'retry-after': String(wait(refusal.retryAfter)) } }), cause })
}

/** The error for an upstream that limits the rate of requests. `seconds`: until the next one may succeed. */
export const rateLimitError = (seconds: number, cause: unknown): GatewayError =>
  new GatewayError('upstream_rate_limited', { values: { seconds }, headers: { 'retry-after': String(seconds) }, cause })

const OVERFLOW = 'context_length_exceeded'

/** Statuses by which upstreams refuse a request that exceeds the context: some of them count it as a failure of their own. */
const isOverflowStatus = (status: number): boolean => status === 400 || status === 413 || status === 422 || status >= 500

/** Most vendors tell an exceeded context only in words. */
function withOverflow(refusal: UpstreamRefusal): UpstreamRefusal {
  const { status, code, message = '' } = refusal
  if (!isOverflowStatus(status) || (code !== OVERFLOW && readOverflow(message) === undefined)) return refusal
  return { ...refusal, status: status >= 500 ? 400 : status, code: OVERFLOW }
}

function rowOf(refusal: UpstreamRefusal): ErrorName {
  if (refusal.code === OVERFLOW && isOverflowStatus(refusal.status)) return 'upstream_rejected'
  const blame = blameOf(refusal)
  if (blame === 'account') return 'upstream_quota_exceeded'
  if (blame === 'request') return refusal.status === 403 ? 'upstream_rejected' : 'upstream_size_refused'
  if (refusal.status === 404 && refusal.code === 'unsupported_endpoint') return 'unsupported_endpoint'
  if (refusal.status < 400 || refusal.status > 599) return 'upstream_invalid_response'
  return BY_STATUS.get(refusal.status) ?? 'upstream_error'
}

const wait = (seconds = RETRY_AFTER.least): number =>
  Number.isFinite(seconds) ? Math.min(Math.max(Math.ceil(seconds), RETRY_AFTER.least), RETRY_AFTER.most) : RETRY_AFTER.least

/** Codes are words; any other value is dropped. */
const knownCode = (code: string | undefined, hidden: readonly string[]): string | null =>
  code !== undefined && /^[a-z][a-z_-]{1,63}$/.test(code) && clean(code, hidden) === code ? code : null

/** A path in the client's body contains nothing private. */
const knownParam = (param: string | undefined, hidden: readonly string[]): string | null =>
  param !== undefined && clean(param, hidden) === param ? param : null

/** A name in `innererror`; any other value is dropped. */
const knownLabel = (label: unknown, hidden: readonly string[]): string | undefined =>
  typeof label === 'string' && /^[a-z][a-z_]{0,63}$/i.test(label) && clean(label, hidden) === label ? label : undefined

/** Azure's filters have about a dozen kinds of findings. */
const MOST_FINDINGS = 32

/** What clients may see of `innererror`: names, no text, and not the ids of block lists, which are the operator's. */
function knownInnerError(inner: UpstreamRefusal['innererror'], hidden: readonly string[]): InnerError | undefined {
  if (!isRecord(inner)) return undefined
  const code = knownLabel(inner.code, hidden)
  const [result, results] = [inner.content_filter_result, inner.content_filter_results].map((found) =>
    knownFindings(found, hidden),
  )
  if (code === undefined && result === undefined && results === undefined) return undefined
  return {
    ...(code !== undefined && { code }),
    ...(result && { content_filter_result: result }),
    ...(results && { content_filter_results: results }),
  }
}

function knownFindings(findings: unknown, hidden: readonly string[]): Readonly<Record<string, FilterFinding>> | undefined {
  if (!isRecord(findings)) return undefined
  const known = Object.entries(findings)
    .slice(0, MOST_FINDINGS)
    .flatMap(([kind, finding]) => {
      if (knownLabel(kind, hidden) === undefined || !isRecord(finding)) return []
      const { filtered, detected } = finding
      const severity = knownLabel(finding.severity, hidden)
      const told: FilterFinding = {
        ...(typeof filtered === 'boolean' && { filtered }),
        ...(typeof detected === 'boolean' && { detected }),
        ...(severity !== undefined && { severity }),
      }
      return [[kind, told] as const]
    })
  return Object.fromEntries(known)
}

/** Private parts of an upstream's message: addresses, credentials, account and request ids. */
const PRIVATE = [
  // Keys that the upstream masked with stars: a part remains.
  /[\w-]*\*{3,}[\w*-]*/g,
  /\b[a-z][a-z\d+.-]*:\/\/\S+/gi,
  /\S+@\S+/g,
  // Hosts: by top-level domain (`.id` is more often a field), by port, by IP address.
  /\b(?:[\w-]+\.)+(?:com|net|org|dev|cloud|app|internal|local|svc|(?!id\b)[a-z]{2})\b(?:[:/]\S*)?/gi,
  /\b[a-z][\w.-]*:\d{2,5}\b/gi,
  /\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b/g,
  /\[?\b[\da-f]{1,4}:[\da-f:]*:[\da-f]{0,4}\]?(?::\d+)?/gi,
  /\bbearer\s+\S+/gi,
  /\b(?:sk|pk|rk|gsk|xai)[-_][\w-]{6,}/gi,
  /\b(?:AIza|AKIA|ASIA)[\w-]{12,}/g,
  /\b(?:org|proj|req|asst|acct|key|user)[-_](?=[\w-]*\d)[\w-]{6,}/gi,
  /\b(?=[\w-]*\d)[\w-]{24,}\b/g,
] as const

/** Removes private parts and control characters from a message; truncates it. */
export function clean(message: string, hidden: readonly string[] = []): string {
  let text = message.slice(0, 2000)
  for (const value of hidden) text = text.replaceAll(value, '…')
  for (const pattern of PRIVATE) text = text.replace(pattern, '…')
  return text
    .replace(/\p{Cc}+/gu, ' ')
    .trim()
    .slice(0, 500)
}

/** Milliseconds that each phase of an attempt may take. */
export interface PhaseLimits {
  /** Until the request is sent on a connected socket. */
  readonly connect: number
  /** From then to the first byte of the reply's body. */
  readonly firstByte: number
  /** Between two pieces of the body. */
  readonly idle: number
}

/** A phase of an attempt. */
export type Phase = keyof PhaseLimits

const TIMEOUTS = {
  connect: 'CONNECT_TIMEOUT',
  firstByte: 'FIRST_BYTE_TIMEOUT',
  idle: 'IDLE_TIMEOUT',
  total: 'TOTAL_TIMEOUT',
} as const

/** The error for a phase that timed out. */
export function timeoutError(phase: Phase | 'total'): GatewayError {
  return new GatewayError('upstream_timeout', { cause: new UpstreamFailure(TIMEOUTS[phase]) })
}

/** Codes of a socket lost after the request was sent: Node's, OpenSSL's, and undici's for a truncated reply. */
const DISCONNECTED = /^(?:E(?!RR_)[A-Z]+|ERR_SSL_\w+|UND_ERR_SOCKET|HPE_INVALID_EOF_STATE|HPE_CLOSED_CONNECTION)$/
/** Undici's messages for an unexpected 100 or 101: the code is a lost socket's. */
const UNASKED = /^bad (?:response|upgrade)$/

/** Codes for a process or a machine without a free descriptor. */
const NO_DESCRIPTOR = /^E[MN]FILE$/

/** The error for an HTTP client's error. `sent`: the request was sent, so a lost socket is a broken reply. */
export function transportError(error: Error, sent: boolean): GatewayError {
  return new GatewayError(transportRow(error, sent), { cause: error })
}

function transportRow(error: Error, sent: boolean): ErrorName {
  const code = codeOf(error)
  if (code === 'UND_ERR_CONNECT_TIMEOUT' || code === 'ETIMEDOUT') return 'upstream_timeout'
  if (NO_DESCRIPTOR.test(code)) return 'gateway_overloaded'
  if (!sent) return 'upstream_unreachable'
  return DISCONNECTED.test(code) && !UNASKED.test(error.message) ? 'upstream_disconnected' : 'upstream_invalid_response'
}

/** Node combines the errors of several addresses in one AggregateError. */
function codeOf(error: Error & { code?: unknown; errors?: readonly (Error & { code?: unknown })[] }): string {
  const code = error.code ?? error.errors?.[0]?.code
  return typeof code === 'string' ? code : ''
}

/** Shorter values are not hidden: any text may contain them. */
const SHORTEST = 6

/**
 * Values of a request that its client must not receive: the host, and the values of the headers that the provider added to the
 * call's own. Upstreams quote them in refusals.
 */
export function privateValues(request: Pick<UpstreamRequest, 'origin' | 'headers'>, call: Call): string[] {
  const own = call.headers
  const added = Object.entries(request.headers).filter(([name]) => !Object.hasOwn(own, name))
  return valuesSent(Object.fromEntries(added), request.origin)
}

/** The values of these headers, and the host of the URL. */
export function valuesSent(headers: UpstreamRequest['headers'], url: string): string[] {
  const values = Object.values(headers).map((value) => (value instanceof Secret ? value.reveal() : value))
  // Upstreams quote `Bearer KEY` as KEY.
  const parts = values.flatMap((value) => [value, ...value.split(' ')])
  return [...parts, new URL(url).host].filter((value) => value.length >= SHORTEST)
}
