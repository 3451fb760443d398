import type { IncomingHttpHeaders } from 'node:http'
import type { GatewayError } from '../errors.ts'
import { tokensOf } from '../protocol/usage.ts'
import type { AttemptRecord, Outcome, OutcomeKind, Principal } from '../sdk/api.ts'
import { NANO_USD } from '../text/money.ts'
import { describeCause } from './describe-cause.ts'

/** What the record of a call has beside its outcome. */
export interface LoggedCall {
  /** The request id. */
  readonly id: string
  readonly principal: Principal | undefined
  readonly tags: Readonly<Record<string, string>>
  /** The client's headers. Only the retry count and the client's request id are logged. */
  readonly headers: IncomingHttpHeaders
  /** The ids of its trace and of its span, if calls are traced. */
  readonly trace?: { readonly traceId: string; readonly spanId: string } | undefined
}

const LEVELS: Readonly<Record<OutcomeKind, CallLine['level']>> = {
  ok: 'info',
  client_error: 'info',
  rate_limited: 'info',
  client_closed: 'info',
  upstream_error: 'warn',
  timeout: 'warn',
  gateway_error: 'error',
}

const CLIENT_REQUEST_ID = /^[A-Za-z0-9_-]{1,64}$/
const RETRY_COUNT = /^\d{1,3}$/
/** Characters; the client chooses the model name. */
const MAX_MODEL = 200

/** The log line of a call. */
export interface CallLine {
  readonly level: 'info' | 'warn' | 'error'
  readonly fields: object
}

/** Makes the line of a call that has ended. It holds no secret and nothing of the request's or the reply's content. */
export function callLine(outcome: Outcome, call: LoggedCall, tokens = outcome.usage && tokensOf(outcome.usage)): CallLine {
  const { kind, status, error, endpoint, model, stream, served, attempts, usage, usageEstimated, cost, times } = outcome
  const { principal, headers } = call
  // One literal: merging partial objects costs more than writing the line.
  const fields = {
    id: call.id,
    endpoint,
    stream,
    key: textOf(principal?.keyId),
    account: textOf(principal?.account),
    namespace: model?.namespace.slice(0, MAX_MODEL),
    model: model?.model.slice(0, MAX_MODEL),
    served: served && `${served.namespace}/${served.model}`.slice(0, MAX_MODEL),
    credential: served?.credential,
    answeredBy: served === undefined ? answeringLink(outcome) : undefined,
    attempts: exceedsServed(attempts) ? attempts.map(attemptFields) : undefined,
    status,
    outcome: kind,
    error: error?.row,
    fault: error?.fault,
    cause: describeCause(error?.cause),
    ms: rounded(times.total),
    firstByteMs: times.firstByte && rounded(times.firstByte),
    overheadMs: rounded(times.overhead),
    tokens,
    estimated: usage && usageEstimated,
    costUsd: cost && cost.nanoUsd / NANO_USD,
    tags: loggedTags(call.tags),
    // The names by which collectors of logs find traces.
    trace_id: call.trace?.traceId,
    span_id: call.trace?.spanId,
    clientRetry: retryCount(headers['x-stainless-retry-count']),
    clientRequestId: clientRequestId(headers['x-client-request-id'] ?? headers['x-request-id']),
  }
  return { level: LEVELS[kind], fields }
}

/** The kind of a call's outcome in metrics and log. `error`: undefined if it succeeded. */
export function outcomeKind(error: GatewayError | undefined): OutcomeKind {
  if (error === undefined) return 'ok'
  if (error.row === 'upstream_timeout') return 'timeout'
  if (error.status === 429) return 'rate_limited'
  if (error.fault === 'upstream') return 'upstream_error'
  return error.fault === 'gateway' ? 'gateway_error' : 'client_error'
}

function attemptFields({ namespace, model, credential, result, start, ms }: AttemptRecord): object {
  return { to: `${namespace}/${model}`.slice(0, MAX_MODEL), credential, result, start: rounded(start), ms: rounded(ms) }
}

/** The link that answered in place of an upstream. */
const answeringLink = ({ links }: Outcome): string | undefined => links.find(({ answered }) => answered)?.name

/** Whether the attempts say more than the field `served`: a single successful attempt does not. */
const exceedsServed = (attempts: readonly AttemptRecord[]): boolean =>
  attempts.length > 1 || (attempts[0]?.result ?? 'ok') !== 'ok'

/** Undefined if there are none. */
function loggedTags(tags: LoggedCall['tags']): object | undefined {
  let hasTags = false
  for (const name in tags) {
    hasTags = true
    if (typeof tags[name] !== 'string') return jsonTags(tags)
  }
  return hasTags ? tags : undefined
}

/** A third-party plugin may set values of any type. The line is JSON: another process may write it. */
function jsonTags(tags: Readonly<Record<string, unknown>>): object {
  const logged: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(tags))
    if (typeof value !== 'object' && typeof value !== 'function') logged[name] = typeof value === 'bigint' ? Number(value) : value
  return logged
}

/** A third-party link may have changed an id of its principal to a value of any type. */
const textOf = (id: unknown): string | undefined => (typeof id === 'string' ? id : undefined)

/** OpenAI's SDKs count their retries in `x-stainless-retry-count`. */
const retryCount = (value: string | string[] | undefined): number | undefined =>
  typeof value === 'string' && RETRY_COUNT.test(value) ? Number(value) : undefined

/** `x-client-request-id` is the name OpenAI documents. */
const clientRequestId = (value: string | string[] | undefined): string | undefined =>
  typeof value === 'string' && CLIENT_REQUEST_ID.test(value) ? value : undefined

/** To the microsecond. */
function rounded(ms: number): number {
  return Math.round(ms * 1000) / 1000
}
