import type { Store } from '../../core/store/database.ts'
import type { CallsTable } from '../../core/store/schema.ts'
import { createCallWriter } from '../../core/usage/call-writer.ts'
import { firstRequestId } from '../../core/usage/request-id.ts'

const HOUR_MS = 3_600_000
const HOURS = 30 * 24

/** What calls came to, the usual ones more often. */
const ENDS: readonly Pick<CallsTable, 'status' | 'outcome' | 'fault' | 'error' | 'error_code'>[] = [
  ...Array.from({ length: 12 }, () => ({ status: 200, outcome: 'ok', fault: null, error: null, error_code: null })),
  { status: 429, outcome: 'rate_limited', fault: 'policy', error: 'rate_limit_requests', error_code: 'rate_limit_exceeded' },
  { status: 502, outcome: 'upstream_error', fault: 'upstream', error: 'upstream_error', error_code: 'upstream_error' },
  { status: 499, outcome: 'client_closed', fault: 'caller', error: null, error_code: null },
]

/** What is asked for, and what then serves it. */
const MODELS = [
  { model: 'acme/smart', serves: 'gpt-5.5' },
  { model: 'acme/smart', serves: 'gpt-5.5-mini' },
  { model: 'openai/gpt-5.5', serves: 'gpt-5.5' },
  { model: 'acme/fast', serves: 'gpt-5.5-mini' },
  { model: 'openai/o4-mini', serves: 'o4-mini' },
]
const TEAMS = ['search', 'support', 'research']

const from = <Item>(items: readonly Item[], index: number): Item => items[index % items.length]!

/** Writes a month of calls by these keys into the past, always the same ones. */
export async function writePastCalls(store: Store, keys: readonly string[]): Promise<void> {
  const calls = Array.from({ length: HOURS * 3 }, (_, index) => pastCall(index, keys))
  const writer = createCallWriter(store)
  await writer.write(calls)
  await writer.close()
}

function pastCall(index: number, keys: readonly string[]): CallsTable {
  // Evenly spread would be no chart: numbers that repeat with different periods.
  const chance = (index * 7919) % 97
  const at = Date.now() - Math.floor((HOURS * HOUR_MS * ((index * 389) % (HOURS * 3)) ** 1.2) / (HOURS * 3) ** 1.2) - 60_000
  const end = from(ENDS, chance)
  const ms = 300 + chance * 41
  const answered = end.status === 200
  const failedFirst = chance % 9 === 0 && model === 'acme/smart'
  const last = {
    namespace: 'openai',
    model: 'gpt-5.5',
    provider: 'openai-compatible',
    result: answered ? 'ok' : 'upstream_error',
    ms: ms * 0.6,
  }
  const first = { ...last, model: serves === 'gpt-5.5' ? 'gpt-5.5-mini' : 'gpt-5.5', result: 'upstream_timeout', ms: ms * 0.38 }
  return {
    id: `${firstRequestId(at)}${index.toString(16).padStart(20, '5c')}`,
    at,
    account_id: 'default',
    key_id: from(keys, chance),
    endpoint: 'chat.completions',
    model,
    stream: chance % 2,
    ...end,
    attempts: JSON.stringify(end.fault === 'policy' ? [] : failedFirst ? [first, last] : [{ ...last, ms: ms * 0.98 }]),
    served: answered ? 1 : 0,
    total_us: ms * 1000,
    first_byte_us: answered ? ms * 400 : null,
    overhead_us: 1400 + chance * 10,
    input_tokens: answered ? 400 + chance * 37 : null,
    output_tokens: answered ? 90 + chance * 11 : null,
    cached_tokens: answered ? chance * 9 : null,
    reasoning_tokens: 0,
    estimated: chance % 5 === 0 ? 1 : 0,
    tags: JSON.stringify({ team: from(TEAMS, chance) }),
  }
}
