import type { IncomingHttpHeaders } from 'node:http'
import { tokensOf } from '../protocol/usage.ts'
import type { AttemptRecord, Outcome, OutcomeKind, Principal } from '../sdk/api.ts'
import { describeCause, type Logger, writeLine } from './log.ts'

/** What the log line tells of a call beside its outcome. */
export interface LoggedCall {
  /** The request id. */
  readonly id: string
  readonly principal: Principal | undefined
  readonly tags: Readonly<Record<string, string>>
  /** The client's headers; of them only its retry count and its own request id are logged. */
  readonly headers: IncomingHttpHeaders
}

const LEVELS: Readonly<Record<OutcomeKind, 'info' | 'warn' | 'error'>> = {
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
/** Characters; a model name is the client's own text. */
const LONGEST_MODEL = 200

/** Logs one line for a call that has ended. It holds no secret and nothing of what was asked or answered. */
export function logCall(log: Logger, outcome: Outcome, call: LoggedCall): void {
  const { kind, status, error, endpoint, model, stream, served, attempts, usage, usageEstimated, times } = outcome
  const { principal, headers } = call
  // Spelt out: building the line from parts costs more than writing it.
  const line = {
    id: call.id,
    endpoint,
    stream,
    key: principal?.keyId,
    account: principal?.account,
    namespace: model?.namespace.slice(0, LONGEST_MODEL),
    model: model?.model.slice(0, LONGEST_MODEL),
    served: served && `${served.namespace}/${served.model}`.slice(0, LONGEST_MODEL),
    attempts: tellsMore(attempts) ? attempts.map(attemptFields) : undefined,
    status,
    outcome: kind,
    error: error?.row,
    fault: error?.fault,
    cause: describeCause(error?.cause),
    ms: rounded(times.total),
    firstByteMs: times.firstByte && rounded(times.firstByte),
    overheadMs: rounded(times.overhead),
    tokens: usage && tokensOf(usage),
    estimated: usage && usageEstimated,
    tags: isEmpty(call.tags) ? undefined : call.tags,
    clientRetry: retryCount(headers['x-stainless-retry-count']),
    clientRequestId: clientRequestId(headers['x-client-request-id'] ?? headers['x-request-id']),
  }
  writeLine(log, LEVELS[kind], line, 'call')
}

function attemptFields({ namespace, model, result, ms }: AttemptRecord): object {
  return { to: `${namespace}/${model}`.slice(0, LONGEST_MODEL), result, ms: rounded(ms) }
}

/** What a single attempt has to tell that succeeded, `served` tells. */
const tellsMore = (attempts: readonly AttemptRecord[]): boolean => attempts.length > 1 || (attempts[0]?.result ?? 'ok') !== 'ok'

function isEmpty(tags: Readonly<Record<string, string>>): boolean {
  for (const _ in tags) return false
  return true
}

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
