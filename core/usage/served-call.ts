import { GatewayError } from '../errors.ts'
import type { AttemptRecord, Cost, ModelId, Outcome, Usage } from '../sdk/api.ts'
import type { CallsTable } from '../store/schema.ts'
import { callRow, type RowCall, textOrNull, textTags } from './call-record.ts'

/** What a call has used by its last attempt that used tokens. */
export interface ServedCharge {
  readonly usage: Usage
  readonly estimated: boolean
  readonly cost: Cost | undefined
}

/** A call under way, with the attempt that is under way or has just ended. */
export interface ServedCall extends RowCall {
  readonly endpointName: Outcome['endpoint']
  readonly model: ModelId | undefined
  /** Undefined for a whole reply. */
  readonly stream: object | undefined
  /** Undefined if the attempts have used no tokens. */
  readonly charge: ServedCharge | undefined
  /** In milliseconds. */
  readonly times: { elapsed(): { readonly total: number } }
}

/** The version of lines of the journal. Another one has other fields, or the same ones with another meaning. */
const VERSION = 1

/** The fields of a line: an array, and only the counts of the usage, since a line is written for each call. */
type Fields = readonly [
  version: typeof VERSION,
  id: string,
  account: string | null,
  keyId: string | null,
  keyTags: Readonly<Record<string, string>> | null,
  tags: Readonly<Record<string, string>>,
  endpoint: Outcome['endpoint'],
  model: ModelId | null,
  stream: boolean,
  attempt: AttemptRecord,
  prompt: number | null,
  completion: number | null,
  cached: number | null,
  reasoning: number | null,
  estimated: boolean,
  cost: Cost | null,
  total: number,
  traceId: string | null,
]

/** The types of the fields, in their order; `?`: or null. */
const TYPES = [
  ...['number', 'string', 'string?', 'string?', 'object?', 'object', 'string', 'object?', 'boolean', 'object'],
  ...['number?', 'number?', 'number?', 'number?', 'boolean', 'object?', 'number', 'string?'],
]

/** A call as one line of text. `attempt`: its last one. `charge`: undefined if the call has used no tokens. */
export function lineOf(call: ServedCall, attempt: AttemptRecord, charge = call.charge): string {
  const { principal } = call
  const usage = charge?.usage
  const fields: Fields = [
    VERSION,
    call.id,
    textOrNull(principal?.account),
    textOrNull(principal?.keyId),
    principal?.tags === undefined ? null : textTags(principal.tags),
    textTags(call.tags),
    call.endpointName,
    call.model ?? null,
    call.stream !== undefined,
    attempt,
    usage?.prompt_tokens ?? null,
    usage?.completion_tokens ?? null,
    usage?.prompt_tokens_details?.cached_tokens ?? null,
    usage?.completion_tokens_details?.reasoning_tokens ?? null,
    charge?.estimated ?? false,
    charge?.cost ?? null,
    call.times.elapsed().total,
    call.trace?.traceId ?? null,
  ]
  return JSON.stringify(fields)
}

/** The types of the columns of a row, in their order: what every database accepts. `?`: or null. */
const COLUMNS = {
  id: 'string',
  at: 'number',
  account_id: 'string?',
  key_id: 'string?',
  endpoint: 'string',
  model: 'string?',
  alias: 'string?',
  stream: 'small',
  status: 'small',
  outcome: 'string',
  fault: 'string?',
  error: 'string?',
  error_code: 'string?',
  attempts: 'json',
  links: 'json',
  served: 'small',
  total_us: 'number',
  first_byte_us: 'number?',
  overhead_us: 'number',
  input_tokens: 'number?',
  output_tokens: 'number?',
  cached_tokens: 'number?',
  reasoning_tokens: 'number?',
  estimated: 'small',
  cost: 'number?',
  saved: 'number?',
  currency: 'string?',
  price: 'string?',
  tags: 'json',
  trace_id: 'string?',
} as const satisfies Record<keyof CallsTable, 'string' | 'string?' | 'number' | 'number?' | 'small' | 'json'>

/**
 * The row of a served call, by its line: as if the call had ended then. If no attempt has served it, the end of its process has failed it. Throws an
 * Error that says what is wrong with a line that is damaged, or of another version.
 */
export function rowOfLine(line: string): CallsTable {
  const value: unknown = JSON.parse(line)
  if (!Array.isArray(value)) throw new Error('is not a list')
  // Before lines had a version, they began with the id.
  const fields = typeof value[0] === 'string' ? [VERSION, ...value] : value
  if (fields[0] !== VERSION) throw new Error(`is of the version ${JSON.stringify(fields[0])}, and this gateway reads ${VERSION}`)
  const wrong = TYPES.findIndex((type, index) => !hasType(fields[index] ?? null, type))
  if (wrong >= 0) throw new Error(`has no ${TYPES[wrong]!.replace('?', '')} as its field ${wrong + 1}`)
  const row = rowOf(fields as unknown as Fields)
  for (const [name, type] of Object.entries(COLUMNS)) {
    const value = row[name as keyof CallsTable]
    const isOk = value === null ? type.endsWith('?') : isOfType(value, type)
    if (!isOk) throw new Error(`has no ${type.replace('?', '')} as "${name}"`)
  }
  if (!ID.test(row.id)) throw new Error('has no id of a request')
  return row
}

function rowOf(fields: Fields): CallsTable {
  const [, id, account, keyId, keyTags, tags, endpoint, model, stream, attempt, ...charged] = fields
  const [prompt, completion, cached, reasoning, usageEstimated, cost, total, traceId] = charged
  const isServed = attempt.result === 'ok'
  const outcome: Outcome = {
    ...(isServed
      ? { kind: 'ok', status: 200, served: attempt }
      : { kind: 'gateway_error', status: 500, error: new GatewayError('process_killed') }),
    endpoint,
    ...(model !== null && { model }),
    stream,
    attempts: [attempt],
    links: [],
    ...(prompt !== null && completion !== null && { usage: usageFrom(prompt, completion, cached, reasoning) }),
    usageEstimated,
    ...(cost !== null && { cost }),
    times: { total, overhead: 0 },
  }
  const principal =
    account === null || keyId === null ? undefined : { account, keyId, ...(keyTags !== null && { tags: keyTags }) }
  return callRow(outcome, { id, principal, tags, ...(traceId !== null && { trace: { traceId } }) })
}

const usageFrom = (prompt: number, completion: number, cached: number | null, reasoning: number | null): Usage => ({
  prompt_tokens: prompt,
  completion_tokens: completion,
  total_tokens: prompt + completion,
  ...(cached !== null && { prompt_tokens_details: { cached_tokens: cached } }),
  ...(reasoning !== null && { completion_tokens_details: { reasoning_tokens: reasoning } }),
})

const hasType = (value: unknown, type: string): boolean =>
  value === null ? type.endsWith('?') : typeof value === type.replace('?', '')

const ID = /^req_[0-9a-f]+$/

const MAX_NAME = 200
const MAX_SMALL = 32_767

function isOfType(value: unknown, type: string): boolean {
  if (type.startsWith('number')) return Number.isSafeInteger(value)
  if (type === 'small') return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= MAX_SMALL
  if (typeof value !== 'string' || value.includes('\0')) return false
  return type === 'json' ? typeof JSON.parse(value) === 'object' : value.length <= MAX_NAME
}
