import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { createSecret } from '../../../core/keys/format.ts'
import { openStore, type Store } from '../../../core/store/database.ts'
import { json, openaiReply, type ReceivedRequest, type Script, sse } from '../../../core/testing/kit.ts'
import { digestOf } from '../../../core/text/ids.ts'
import { NANO_USD } from '../../../core/text/money.ts'
import { type Answer, type Client, createClient } from '../client.ts'
import { namespaceOf } from '../plain-routes.ts'
import { startProcesses } from '../process-gateway.ts'
import { atMost, exactly, type Finding, type Scenario } from '../scenario.ts'

const PROXIES = 4
/** Processes are killed so often: each proxy and control in turn, less often than the supervisor makes their successors wait. */
const KILLS = Number(process.env.SOAK_KILLS ?? 100)
const BETWEEN_KILLS_MS = 2_200
/** Concurrent callers of the key whose budget is never spent. */
const CALLERS = 12
/** The price of a token of an answer, in nano-dollars. */
const TOKEN_COST = 1_000_000
/** The most tokens that a call asks for. */
const MOST_TOKENS = 50
/** The ledger settles the leases of a killed process after a minute. */
const LEASES_END_MS = 75_000
/** A process that holds the last units of a budget and does not use them gives them back sooner, in milliseconds. */
const REFUSED_MS = 5_000
/** How long rows may take, in milliseconds. */
const ROWS_MS = 60_000

/** The keys of the scenario and what they may spend in a month, in US dollars. */
const BUDGETS = { wide: 100_000, tight: 3, rest: 5 } as const

type KeyName = keyof typeof BUDGETS

const SECRETS: Readonly<Record<KeyName, string>> = {
  wide: createSecret('live'),
  tight: createSecret('live'),
  rest: createSecret('live'),
}

const keyLine = (name: KeyName): string =>
  `  - { name: ${name}, hash: "sha256:${digestOf(SECRETS[name])}", kind: live, models: ["*"], budget: ${BUDGETS[name]} USD/month }`

/** Processes are killed under load: each call that was served is in the ledger with its exact cost, and budgets hold. */
export const ledger: Scenario = {
  name: 'ledger',
  notWithWorkers: 'it starts a gateway of several processes in any case',
  seconds: 300 + (KILLS * BETWEEN_KILLS_MS) / 500,
  table: `version: 1
chain: [{ plugin: auth }]
namespaces:
${namespaceOf('open')}
prices: { models: { open/m: { input: 0, output: 1000 } } }
budgets: { onOutage: refuse }
keys:
${Object.keys(BUDGETS)
  .map((name) => keyLine(name as KeyName))
  .join('\n')}
`,
  async run(fixture, progress) {
    const billed = new Map<string, number>()
    fixture.open.on((request) => bill(request, billed))
    const { url, pids } = await startProcesses(fixture, PROXIES)
    const over = new AbortController()
    const load = new Load(url)
    const calls = [
      ...Array.from({ length: CALLERS }, () => load.callUntil(over.signal, 'wide')),
      ...Array.from({ length: 2 }, () => load.callUntil(over.signal, 'tight')),
      load.callUntil(over.signal, 'rest', 1000),
    ]
    const places = ['control', ...Array.from({ length: PROXIES }, (_, index) => `proxy-${index + 1}`)]
    for (let kill = 1; kill <= KILLS; kill++) {
      await delay(BETWEEN_KILLS_MS)
      const place = places[kill % places.length]!
      progress(`kill ${kill} of ${KILLS}: ${place}`)
      process.kill(pids().get(place)!, 'SIGKILL')
    }
    await delay(BETWEEN_KILLS_MS)
    over.abort()
    await Promise.all(calls)

    const store = await openStore(`sqlite:${join(fixture.workspace.scratch, 'processes', 'gateway.db')}`)
    try {
      progress('waiting for rows, and for the end of leases')
      await untilRecorded(store, load.served)
      const findings = await compare(store, load, billed)
      await delay(LEASES_END_MS)
      const refused = await load.spendRest()
      await untilRecorded(store, load.served)
      const spent = await spentBy(store, 'rest')
      return [
        ...findings,
        exactly(BUDGETS.rest, 'USD that a budget allowed in the end, when the leases had run out', spent / NANO_USD),
        exactly(429, 'status of the calls after that', refused),
      ]
    } finally {
      load.close()
      await store.close()
    }
  },
}

/** Replies with as many tokens as are asked for, and notes what the call costs. */
function bill(request: ReceivedRequest, billed: Map<string, number>): Script {
  const { stream, max_tokens: tokens } = request.json() as { readonly stream: boolean; readonly max_tokens: number }
  billed.set(request.headers['x-request-id'] as string, tokens * TOKEN_COST)
  const usage = { prompt_tokens: 1, completion_tokens: tokens, total_tokens: 1 + tokens }
  const reply = openaiReply({ text: 'Yes.', usage })
  return stream ? sse(reply.stream) : json(reply.whole)
}

/** The calls of the scenario. */
class Load {
  /** The ids of calls whose whole reply their client has. */
  readonly served = new Set<string>()
  /** Calls that broke off, by key. */
  readonly broken: Record<KeyName, number> = { wide: 0, tight: 0, rest: 0 }
  readonly #clients: Readonly<Record<KeyName, Client>>

  constructor(url: string) {
    const client = (name: KeyName): Client => createClient({ url }, SECRETS[name])
    this.#clients = { wide: client('wide'), tight: client('tight'), rest: client('rest') }
  }

  /** Makes one call after the other. */
  async callUntil(over: AbortSignal, name: KeyName, pauseMs = 20): Promise<void> {
    while (!over.aborted) {
      const tokens = 1 + Math.floor(Math.random() * MOST_TOKENS)
      await this.#call(name, tokens, Math.random() < 0.5)
      await delay(pauseMs)
    }
  }

  /** Spends what is left of a budget in the smallest units. Resolves to the status of calls when none has been served for a while. */
  async spendRest(): Promise<number> {
    let status = 0
    for (let servedAt = performance.now(); performance.now() < servedAt + REFUSED_MS; ) {
      status = await this.#call('rest', 1, false)
      if (status === 200) servedAt = performance.now()
      else await delay(100)
    }
    return status
  }

  close(): void {
    for (const client of Object.values(this.#clients)) client.close()
  }

  async #call(name: KeyName, tokens: number, stream: boolean): Promise<number> {
    const messages = [{ role: 'user', content: 'Are you there?' }]
    const answer = await this.#clients[name]
      .call(JSON.stringify({ model: 'open/m', stream, max_tokens: tokens, messages }))
      .catch(() => undefined)
    const isServed = answer?.status === 200 && answer.whole && (!stream || answer.body.endsWith('data: [DONE]\n\n'))
    if (isServed) this.served.add(idOf(answer))
    // 503: near the end of a budget, while control is replaced.
    else if (answer?.status !== 429 && answer?.status !== 503) this.broken[name] += 1
    return answer?.status ?? 0
  }
}

const idOf = ({ headers }: Answer): string => headers['x-request-id'] as string

/** Resolves when all calls have rows, or after a while. */
async function untilRecorded(store: Store, served: ReadonlySet<string>): Promise<void> {
  const end = performance.now() + ROWS_MS
  while (performance.now() < end) {
    const rows = await costs(store)
    if ([...served].every((id) => rows.has(id))) return
    await delay(1000)
  }
}

async function compare(store: Store, load: Load, billed: ReadonlyMap<string, number>): Promise<readonly Finding[]> {
  const rows = await costs(store)
  const sum = rows.values().reduce((total, cost) => total + cost, 0)
  const broken = Object.values(load.broken).reduce((total, count) => total + count, 0)
  const unknown = [...billed.keys()].filter((id) => !rows.has(id))
  const wrong = rows.entries().filter(([id, cost]) => cost !== billed.get(id))
  const inSums = await Promise.all(Object.keys(BUDGETS).map((name) => spentBy(store, name as KeyName)))
  const overspent = (await spentBy(store, 'tight')) - BUDGETS.tight * NANO_USD
  return [
    exactly(
      0,
      `of ${load.served.size} calls that were served, without a row`,
      unknown.filter((id) => load.served.has(id)).length,
    ),
    exactly(0, `of ${rows.size} rows, whose cost is not that of the upstream's reply`, wrong.toArray().length),
    atMost(broken, 'calls', 'that the upstream has served, and that have no row: each broke off', unknown.length),
    exactly(0, 'nano-dollars between the sums and the rows', inSums.reduce((total, spent) => total + spent, 0) - sum),
    atMost((load.broken.tight * MOST_TOKENS * TOKEN_COST) / NANO_USD, 'USD', 'spent beyond a budget', overspent / NANO_USD),
    exactly(1, 'whether calls were served', Math.min(load.served.size, 1)),
  ]
}

/** What calls have cost, in nano-dollars, by their ids. */
async function costs({ read, db }: Store): Promise<ReadonlyMap<string, number>> {
  const rows = await read(db.selectFrom('calls').select(['id', 'cost']).where('cost', 'is not', null))
  return new Map(rows.map(({ id, cost }) => [id, Number(cost)]))
}

/** What a key has spent, by the sums of usage, in nano-dollars. */
async function spentBy({ read, db }: Store, name: KeyName): Promise<number> {
  const days = db.selectFrom('usage').select('cost').where('span', '=', 'day').where('dimension', '=', 'key')
  const all = await read(days.where('name', '=', `routes:${name}`).where('scope', '=', 'default'))
  return all.reduce((sum, { cost }) => sum + Number(cost), 0)
}
