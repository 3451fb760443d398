import { GatewayError } from '../errors.ts'
import type { AttemptRecord, Cost, ModelId, Outcome, Usage } from '../sdk/api.ts'
import type { CallsTable } from '../store/schema.ts'
import { callRow, type RowCall } from './call-record.ts'

/** A call of which an attempt has just ended, but not the call. */
export interface ServedCall extends RowCall {
  readonly endpointName: Outcome['endpoint']
  readonly model: ModelId | undefined
  /** Undefined for a whole reply. */
  readonly stream: object | undefined
  /** Undefined if the attempts have used no tokens. */
  readonly charge: { readonly usage: Usage; readonly estimated: boolean; readonly cost: Cost | undefined } | undefined
  /** In milliseconds. */
  readonly times: { elapsed(): { readonly total: number } }
}

/** The fields of a line: an array, and only the counts of the usage, since a line is written for each call. */
type Fields = readonly [
  id: string,
  account: string | null,
  keyId: string | null,
  keyTags: Readonly<Record<string, string>> | null,
  tags: Readonly<Record<string, string>>,
  endpoint: Outcome['endpoint'],
  model: ModelId | null,
  stream: boolean,
  attempt: AttemptRecord,
  prompt: number,
  completion: number,
  cached: number | null,
  reasoning: number | null,
  estimated: boolean,
  cost: Cost | null,
  total: number,
  traceId: string | null,
]

/** A call as one line of text. `attempt`: the one that has ended, which has used tokens. */
export function lineOf(call: ServedCall, attempt: AttemptRecord): string {
  const { principal } = call
  const { usage, estimated, cost } = call.charge!
  const fields: Fields = [
    call.id,
    principal?.account ?? null,
    principal?.keyId ?? null,
    principal?.tags ?? null,
    call.tags,
    call.endpointName,
    call.model ?? null,
    call.stream !== undefined,
    attempt,
    usage.prompt_tokens,
    usage.completion_tokens,
    usage.prompt_tokens_details?.cached_tokens ?? null,
    usage.completion_tokens_details?.reasoning_tokens ?? null,
    estimated,
    cost ?? null,
    call.times.elapsed().total,
    call.trace?.traceId ?? null,
  ]
  return JSON.stringify(fields)
}

/** The row of a served call, by its line: as if the call had ended then. If no attempt has served it, the gateway has failed it. */
export function rowOfLine(line: string): CallsTable {
  const [id, account, keyId, keyTags, tags, endpoint, model, stream, attempt, ...charged] = JSON.parse(line) as Fields
  const [prompt, completion, cached, reasoning, usageEstimated, cost, total, traceId] = charged
  const isServed = attempt.result === 'ok'
  const outcome: Outcome = {
    ...(isServed
      ? { kind: 'ok', status: 200, served: attempt }
      : { kind: 'gateway_error', status: 500, error: new GatewayError('internal_error') }),
    endpoint,
    ...(model !== null && { model }),
    stream,
    attempts: [attempt],
    links: [],
    usage: {
      prompt_tokens: prompt,
      completion_tokens: completion,
      total_tokens: prompt + completion,
      ...(cached !== null && { prompt_tokens_details: { cached_tokens: cached } }),
      ...(reasoning !== null && { completion_tokens_details: { reasoning_tokens: reasoning } }),
    },
    usageEstimated,
    ...(cost !== null && { cost }),
    times: { total, overhead: 0 },
  }
  const principal =
    account === null || keyId === null ? undefined : { account, keyId, ...(keyTags !== null && { tags: keyTags }) }
  return callRow(outcome, { id, principal, tags, ...(traceId !== null && { trace: { traceId } }) })
}
