import { type CallLine, callLine, type LoggedCall } from '../observe/call-log.ts'
import { MAX_TOKENS, tokensOf } from '../protocol/usage.ts'
import type { AttemptRecord, LinkRecord, Outcome, Principal } from '../sdk/api.ts'
import type { CallsTable } from '../store/schema.ts'
import type { CallTrace, TraceRecord } from '../telemetry/call-trace.ts'
import { timeOfRequest } from '../text/ids.ts'

/** What is written down of a call, made once where it settles. It is JSON: another process may write it. */
export interface CallRecord {
  /** Absent: it is in the log already. */
  readonly line?: CallLine
  /** Absent: the request reached no endpoint of `/v1`. */
  readonly row?: CallsTable
  /** Absent: the call is not traced. */
  readonly trace?: TraceRecord
}

/** Writes calls to the log and the database, in this process or another. */
export interface CallSink {
  /** Records a call that has ended. */
  record(record: CallRecord): void
}

/** What the record of a call has beside its outcome. */
interface EndedCall extends LoggedCall {
  readonly trace?: CallTrace | undefined
}

/** Makes the record of a call that has ended. */
export function callRecord(outcome: Outcome, call: EndedCall): CallRecord {
  const tokens = outcome.usage && tokensOf(outcome.usage)
  const line = callLine(outcome, call, tokens)
  if (outcome.endpoint === 'none') return { line }
  const row = callRow(outcome, call, tokens)
  const trace = call.trace?.record
  return trace === undefined ? { line, row } : { line, row, trace }
}

/** Each tag adds usage rows of its own. */
const MAX_TAGS = 32
/** A chain may have any number of links. */
const MAX_LINKS = 100
/** What the row of a call has beside its outcome. */
export interface RowCall extends Pick<LoggedCall, 'id' | 'tags'> {
  readonly principal: Pick<Principal, 'account' | 'keyId' | 'tags'> | undefined
  readonly trace?: Pick<CallTrace, 'traceId'> | undefined
}

/**
 * The row of a call. Every database accepts its fields, whatever values a plugin has set. It references nothing of the call but
 * strings: rows wait for a while, and the garbage collector would have to copy all that they reference.
 */
export function callRow(
  outcome: Outcome,
  { id, principal, tags, trace }: RowCall,
  tokens = outcome.usage && tokensOf(outcome.usage),
): CallsTable {
  const { kind, error, served, attempts, links, usage, cost, times } = outcome
  return {
    id,
    at: timeOfRequest(id),
    account_id: textOrNull(principal?.account),
    key_id: textOrNull(principal?.keyId),
    endpoint: outcome.endpoint,
    model: textOrNull(outcome.model?.id),
    alias: textOrNull(outcome.model?.alias),
    stream: outcome.stream ? 1 : 0,
    status: outcome.status,
    outcome: kind,
    // A call whose client left has no error.
    fault: error?.fault ?? (kind === 'client_closed' ? 'caller' : null),
    error: error?.row ?? null,
    error_code: textOrNull(error?.code),
    attempts: JSON.stringify(attempts.map(attemptFields)),
    links: JSON.stringify(links.slice(0, MAX_LINKS).map(linkFields)),
    served: served === undefined ? 0 : 1,
    total_us: microseconds(times.total),
    first_byte_us: times.firstByte === undefined ? null : microseconds(times.firstByte),
    overhead_us: microseconds(times.overhead),
    input_tokens: countOrNull(tokens?.input),
    output_tokens: countOrNull(tokens?.output),
    cached_tokens: countOrNull(tokens?.cached_input),
    reasoning_tokens: countOrNull(tokens?.reasoning),
    estimated: usage !== undefined && outcome.usageEstimated ? 1 : 0,
    cost: cost?.nanoUsd ?? null,
    saved: cost === undefined ? null : (cost.savedNanoUsd ?? 0),
    currency: cost === undefined ? null : 'USD',
    price: cost === undefined ? null : storable(cost.price),
    // The call's tags, set by the operator, override those of the key.
    tags: JSON.stringify(textTags(principal?.tags === undefined ? tags : { ...principal.tags, ...tags })),
    trace_id: trace?.traceId ?? null,
  }
}

/** To be written as JSON, which leaves out what is undefined. */
const attemptFields = ({ namespace, model, provider, credential, result, start, ms, status }: AttemptRecord): object => ({
  namespace,
  model: storable(model),
  provider,
  credential,
  result,
  start: microseconds(start) / 1000,
  ms: microseconds(ms) / 1000,
  status,
})

/** The same of a link. */
const linkFields = ({ name, ms, answered }: LinkRecord): object => ({
  name: storable(name),
  ms: microseconds(ms) / 1000,
  answered,
})

/** A name that every database accepts. A third-party link may set values of any type: null for what is no text. */
export const textOrNull = (name: unknown): string | null => (typeof name === 'string' ? storable(name) : null)

type Tags = LoggedCall['tags']

/** The tags that a row holds: those that are texts. A third-party link may set values of any type, also such as JSON does not know. */
export function textTags(tags: Tags): Tags {
  const all = Object.entries(tags)
  if (all.length === 0) return NO_TAGS
  const texts = all.filter(([, value]) => typeof value === 'string').slice(0, MAX_TAGS)
  return Object.fromEntries(texts.map(([tag, value]) => [storable(tag), storable(value)]))
}

const NO_TAGS: Tags = {}

const countOrNull = (tokens: number | undefined): number | null => (tokens === undefined ? null : Math.min(tokens, MAX_TOKENS))

const microseconds = (ms: number): number => Math.round(ms * 1000)

/** Characters of names from clients, upstreams and plugins: the name of a model may be as long as a body. */
const MAX_NAME = 200

/** A name that every database accepts: PostgreSQL's texts hold no NUL, and its index keys are limited in length. */
function storable(name: string): string {
  return name.slice(0, MAX_NAME).replaceAll('\0', '')
}
