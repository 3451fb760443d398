import { createHash } from 'node:crypto'
import type { Store } from '../../core/store/database.ts'
import type { CallsTable } from '../../core/store/schema.ts'
import { firstRequestId } from '../../core/text/ids.ts'
import { createCallWriter } from '../../core/usage/call-writer.ts'

const HOUR_MS = 3_600_000
const HOURS = 30 * 24
const CALLS = HOURS * 3

/** The outcomes of calls, the common ones more often. */
const ENDS: readonly Pick<CallsTable, 'status' | 'outcome' | 'fault' | 'error' | 'error_code'>[] = [
  ...Array.from({ length: 12 }, () => ({ status: 200, outcome: 'ok', fault: null, error: null, error_code: null })),
  { status: 429, outcome: 'rate_limited', fault: 'policy', error: 'rate_limit_requests', error_code: 'rate_limit_exceeded' },
  { status: 502, outcome: 'upstream_error', fault: 'upstream', error: 'upstream_error', error_code: 'upstream_error' },
  { status: 499, outcome: 'client_closed', fault: 'caller', error: null, error_code: null },
]

/** The requested models and the models that serve them. */
const MODELS = [
  { model: 'acme/smart', serves: 'gpt-5.5' },
  { model: 'acme/smart', serves: 'gpt-5.5-mini' },
  { model: 'openai/gpt-5.5', serves: 'gpt-5.5' },
  { model: 'acme/fast', serves: 'gpt-5.5-mini' },
  { model: 'openai/o4-mini', serves: 'o4-mini' },
]
const TEAMS = ['search', 'support', 'research']

const from = <Item>(items: readonly Item[], index: number): Item => items[index % items.length]!

/** Writes a month of past calls by these keys, the same ones each time. */
export async function writePastCalls(store: Store, keys: readonly string[]): Promise<void> {
  const calls = Array.from({ length: CALLS }, (_, index) => pastCall(index, keys))
  const writer = createCallWriter(store)
  await writer.write(calls)
}

function pastCall(index: number, keys: readonly string[]): CallsTable {
  // Pseudo-random numbers, so that the chart is not flat.
  const chance = (index * 7919) % 97
  const at = Date.now() - Math.floor(HOURS * HOUR_MS * (((index * 389) % CALLS) / CALLS) ** 1.2) - 60_000
  const { model, serves } = from(MODELS, index + chance)
  const end = from(ENDS, chance)
  const ms = 300 + chance * 41
  const answered = end.status === 200
  return {
    id: `${firstRequestId(at)}${createHash('sha256').update(String(index)).digest('hex').slice(0, 20)}`,
    at,
    account_id: 'default',
    key_id: from(keys, chance),
    endpoint: 'chat.completions',
    model,
    alias: model === 'acme/smart' && chance % 3 === 0 ? 'gpt-4o' : null,
    stream: chance % 2,
    ...end,
    attempts: JSON.stringify(end.fault === 'policy' ? [] : attemptsOf({ serves, ms, answered, retried: chance % 7 === 0 })),
    links: JSON.stringify(linksOf(end.fault === 'policy', chance)),
    served: answered ? 1 : 0,
    total_us: ms * 1000,
    first_byte_us: answered ? ms * 520 : null,
    overhead_us: 1400 + chance * 10,
    input_tokens: answered ? 400 + chance * 37 : null,
    output_tokens: answered ? 90 + chance * 11 : null,
    cached_tokens: answered ? chance * 9 : null,
    reasoning_tokens: 0,
    ...costOf(answered, chance),
    estimated: chance % 5 === 0 ? 1 : 0,
    tags: JSON.stringify({ team: from(TEAMS, chance) }),
    trace_id: null,
  }
}

/** Nothing without tokens; one call in six has no price. */
function costOf(answered: boolean, chance: number): Pick<CallsTable, 'cost' | 'saved' | 'currency' | 'price'> {
  if (!answered || chance % 6 === 0) return { cost: null, saved: null, currency: null, price: null }
  return {
    cost: 1_450_000 + chance * 127_500,
    saved: chance * 10_125,
    currency: 'USD',
    price: 'genai-prices 0.1.8 openai/gpt-5.5',
  }
}

/** The links of the fixture's chain; a limit ends the call at rate-tagging. */
function linksOf(limited: boolean, chance: number): object[] {
  const links = [
    { name: 'auth', ms: (60 + chance) / 1000 },
    { name: 'rate-tagging', ms: (400 + 7 * chance) / 1000 },
    { name: 'header-stamping', ms: (20 + chance) / 1000 },
  ]
  return limited ? links.slice(0, 2) : links
}

/** The attempts of a call. */
interface Attempts {
  readonly serves: string
  readonly ms: number
  readonly answered: boolean
  readonly retried: boolean
}

function attemptsOf({ serves, ms, answered, retried }: Attempts): object[] {
  const target = { namespace: 'openai', model: serves, provider: 'openai-compatible' }
  const result = answered ? 'ok' : 'upstream_error'
  const refused = answered ? {} : { status: 502 }
  if (!retried) return [{ ...target, result, ...refused, ms: ms * 0.98, start: ms * 0.01 }]
  // A pause between both.
  return [
    { ...target, result: 'upstream_timeout', ms: ms * 0.38, start: ms * 0.01 },
    { ...target, result, ...refused, ms: ms * 0.5, start: ms * 0.49 },
  ]
}
