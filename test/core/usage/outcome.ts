import type { ErrorName } from '../../../core/error-table.ts'
import { GatewayError } from '../../../core/errors.ts'
import type { Outcome, Principal } from '../../../core/sdk/api.ts'
import type { CallsTable } from '../../../core/store/schema.ts'
import { firstRequestId } from '../../../core/text/ids.ts'
import { callRow } from '../../../core/usage/call-record.ts'

/** The fields of a call that a test sets. */
export interface CallFields {
  /** The time of the request, and a number that distinguishes calls of the same time. */
  readonly at?: number
  readonly number?: number
  readonly model?: string
  readonly key?: string
  readonly account?: string
  readonly error?: ErrorName
  readonly tags?: Readonly<Record<string, string>>
  readonly outcome?: Partial<Outcome>
}

const TARGET = { namespace: 'openai', model: 'gpt-5.5', provider: 'openai-compatible' }

const LINKS = [
  { name: 'auth', ms: 0.0504 },
  { name: 'audit', ms: 2.5 },
]

/** The outcome of a successful stream, or of a failed call. */
export function outcomeOf({ model = 'openai/gpt-5.5', error, outcome }: CallFields = {}): Outcome {
  const [namespace = '', ...rest] = model.split('/')
  const failure = error === undefined ? undefined : new GatewayError(error)
  return {
    kind: failure === undefined ? 'ok' : 'upstream_error',
    status: failure?.status ?? 200,
    ...(failure && { error: failure }),
    endpoint: 'chat.completions',
    model: { id: model, namespace, model: rest.join('/') },
    stream: true,
    served: TARGET,
    attempts: [{ ...TARGET, result: error ?? 'ok', start: 1.25, ms: 90.5 }],
    links: LINKS,
    usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
    usageEstimated: false,
    times: { total: 100.25, firstByte: 20, overhead: 1.5 },
    ...outcome,
  }
}

/** The row of a call. */
export function callRowOf(fields: CallFields = {}): CallsTable {
  const { at = Date.now(), number = 0, key = 'key_one', account = 'default', tags = {} } = fields
  const principal: Principal = { keyId: key, name: 'one', kind: 'live', account, models: [] }
  const id = firstRequestId(at) + number.toString(16).padStart(20, '0')
  return callRow(outcomeOf(fields), { id, principal, tags })
}
