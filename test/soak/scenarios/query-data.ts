import type { Kysely } from 'kysely'
import { openStore } from '../../../core/store/database.ts'
import type { CallsTable, KeysTable, Schema } from '../../../core/store/schema.ts'
import { firstRequestId } from '../../../core/text/ids.ts'
import { addUsage, insertCalls } from '../../../core/usage/call-writer.ts'
import { rollUp } from '../../../core/usage/rollup.ts'
import { randomNumbers } from './versioned-routes.ts'

export const KEYS = 100_000
export const CALLS = 1_000_000
export const DAYS = 30
export const DAY_MS = 86_400_000

const ACCOUNTS = 200
const MODELS = 40
/** One key in a hundred makes four calls of five. */
const BUSY_KEYS = KEYS / 100
/** Rows of one statement. */
const CHUNK = 500

/** The id of a key, by its number. */
export const keyId = (number: number): string => `key_soak${String(number).padStart(16, '0')}`
export const accountOf = (key: number): string => `acc_soak${String(key % ACCOUNTS).padStart(16, '0')}`
export const modelOf = (number: number): string => `open/model-${number % MODELS}`

/** Fills an empty database with keys and with calls of the last thirty days. Resolves to the id of a call from the middle. */
export async function fill(url: string, progress: (message: string) => void): Promise<string> {
  const store = await openStore(url)
  const random = randomNumbers(7)
  progress(`${KEYS} keys`)
  await store.db.transaction().execute((db) => insertKeys(db))
  const begin = Date.now() - DAYS * DAY_MS
  let middle = ''
  for (let day = 0; day < DAYS; day++) {
    const calls = callsOf({ begin: begin + day * DAY_MS, count: Math.ceil(CALLS / DAYS), random })
    await store.db.transaction().execute((db) => insertDay(db, calls))
    if (day === DAYS / 2) middle = calls[0]!.id
    if (day % 10 === 9) progress(`${Math.round((CALLS * (day + 1)) / DAYS)} calls`)
  }
  await store.close()
  return middle
}

async function insertKeys(db: Kysely<Schema>): Promise<void> {
  const accounts = Array.from({ length: ACCOUNTS }, (_, number) => ({
    id: accountOf(number),
    name: `account ${number}`,
    models: '["*"]',
    rate_class: null,
    max_keys: 100,
    max_key_days: null,
    budgets: '[]',
    created_at: Date.now(),
    declared_at: null,
  }))
  await db.insertInto('accounts').values(accounts).execute()
  for (let from = 0; from < KEYS; from += CHUNK)
    await db
      .insertInto('keys')
      .values(Array.from({ length: CHUNK }, (_, index) => keyRow(from + index)))
      .execute()
}

function keyRow(number: number): KeysTable {
  return {
    id: keyId(number),
    account_id: accountOf(number),
    name: `service ${number}`,
    kind: 'live',
    digest: `soak${number}`,
    prefix_shown: `sk-live-${String(number).padStart(4, '0').slice(0, 4)}`,
    last_four: String(number).padStart(4, '0').slice(-4),
    models: '["*"]',
    rate_class: null,
    budgets: '[]',
    tags: '{}',
    created_at: Date.now() - number,
    created_by: null,
    created_by_name: null,
    expires_at: null,
    revoked_at: number % 10 === 0 ? Date.now() : null,
    disabled_at: null,
    last_used_at: null,
    replaces: null,
    replaced_by: null,
  }
}

interface Day {
  readonly begin: number
  readonly count: number
  random(): number
}

/** The calls of a day: one in thirty failed, one in ten thousand by an error of the gateway. */
function callsOf({ begin, count, random }: Day): CallsTable[] {
  return Array.from({ length: count }, (_, index) => {
    const at = begin + Math.floor((index / count) * DAY_MS)
    const key = Math.floor(random() * (random() < 0.8 ? BUSY_KEYS : KEYS))
    const failure = random() < 1 / 30 ? (random() < 1 / 300 ? 'gateway' : 'upstream') : null
    return {
      id: firstRequestId(at) + index.toString(16).padStart(20, '0'),
      at,
      account_id: accountOf(key),
      key_id: keyId(key),
      endpoint: 'chat.completions',
      alias: null,
      model: modelOf(Math.floor(random() * random() * MODELS)),
      stream: 1,
      status: failure === null ? 200 : 502,
      outcome: failure === null ? 'ok' : 'upstream_error',
      fault: failure,
      error: failure && 'upstream_error',
      error_code: failure && 'upstream_error',
      attempts: JSON.stringify([
        { namespace: 'open', model: 'gpt', provider: 'openai-compatible', result: 'ok', start: 1.5, ms: 812.5 },
      ]),
      links: '[{"name":"auth","ms":0.042},{"name":"rate-tagging","ms":0.061},{"name":"header-stamping","ms":0.019}]',
      served: 1,
      total_us: 812_500,
      first_byte_us: 204_000,
      overhead_us: 450,
      input_tokens: 420,
      output_tokens: 120,
      cached_tokens: 100,
      reasoning_tokens: 20,
      estimated: 0,
      cost: 1_225_000,
      saved: 90_000,
      currency: 'USD',
      price: 'routes.yaml input=1 output=7',
      tags: `{"team":"team ${key % 12}"}`,
      trace_id: null,
    }
  })
}

async function insertDay(db: Kysely<Schema>, calls: readonly CallsTable[]): Promise<void> {
  for (let from = 0; from < calls.length; from += CHUNK) await insertCalls(db, calls.slice(from, from + CHUNK)).execute()
  const sums = rollUp(calls, (_, __, ___, name) => name)
  for (let from = 0; from < sums.length; from += CHUNK) await addUsage(db, sums.slice(from, from + CHUNK)).execute()
}
