import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { cpuBetween, cpuSnapshot } from '../../../bench/cpu.ts'
import { createSecret } from '../../../core/keys/format.ts'
import { openStore } from '../../../core/store/database.ts'
import { json, openaiReply } from '../../../core/testing/kit.ts'
import { digestOf } from '../../../core/text/ids.ts'
import { bodyOf } from '../client.ts'
import type { SoakedGateway } from '../fixture.ts'
import { namespaceOf } from '../plain-routes.ts'
import { atMost, exactly, type Scenario } from '../scenario.ts'

const KEYS = 20_000
/** Of these, each rests between two measured calls. */
const RESTING = 10_000
const BUSY = 10
const ROUNDS = 5
/** Calls in a round by keys in use, and by those that rested: two rounds are a turn of all of them, of ten seconds or more. */
const [BUSY_CALLS, RESTED_CALLS] = [1_000, 5_000]
const CONNECTIONS = 16
/** Rows of one statement: a database limits its parameters. */
const BATCH = 500
const TARGET = 1.5

/** Thousands of keys call in turn: a call of a key that rested costs little more than one of a key in use. */
export const restedKeys: Scenario = {
  name: 'rested-keys',
  seconds: 900,
  table: `version: 1
chain:
  - plugin: auth
  - plugin: rate-tagging
    config: { classes: { many: { requests: 1M/min, tokens: 1000M/min } }, default: many }
namespaces:
${namespaceOf('open')}`,
  async run({ gateway, open, workspace }, progress) {
    open.on(() => json(REPLY))
    progress(`creating ${KEYS} keys`)
    const secrets = await createKeys(`sqlite:${join(workspace.scratch, 'gateway.db')}`)
    const client = new Client(gateway)
    progress('each calls once')
    await client.call(secrets)
    const rested = endless(secrets.slice(0, RESTING))
    const busy = endless(secrets.slice(0, BUSY))
    const ratios: number[] = []
    for (let round = 0; round < ROUNDS; round++) {
      // After a pause of their own, keys in use are warm from the second call on.
      await client.call(take(busy, BUSY * 2))
      const warm = await client.cpuOf(take(busy, BUSY_CALLS))
      const cold = await client.cpuOf(take(rested, RESTED_CALLS))
      progress(`a key in use ${Math.round(warm)} µs, one that rested ${Math.round(cold)} µs`)
      ratios.push(cold / warm)
    }
    client.close()
    for (const failure of new Set(client.failures)) progress(`a call was answered ${failure}`)
    const median = ratios.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)]!
    return [
      atMost(TARGET, 'times', `processor time of a call of one of ${RESTING} keys in turn, compared with ${BUSY} keys`, median),
      exactly(0, `of ${client.served + client.failures.length} calls by ${KEYS} keys, not served`, client.failures.length),
    ]
  },
}

/** Creates keys of the account `default`. Resolves to their secrets. */
async function createKeys(database: string): Promise<readonly string[]> {
  const secrets = Array.from({ length: KEYS }, () => createSecret('live'))
  const store = await openStore(database)
  const shown = { prefix_shown: 'sk-live-', last_four: '0000', models: '["*"]', tags: '{}', created_at: Date.now() }
  for (let from = 0; from < KEYS; from += BATCH) {
    const rows = secrets.slice(from, from + BATCH).map((secret, index) => ({
      ...shown,
      id: `key_rested${from + index}`,
      account_id: 'default',
      name: `rested ${from + index}`,
      kind: 'live' as const,
      digest: digestOf(secret),
      budgets: '[]',
    }))
    await store.db.insertInto('keys').values(rows).execute()
  }
  await store.close()
  return secrets
}

function* endless(secrets: readonly string[]): Generator<string> {
  for (;;) yield* secrets
}

const take = (secrets: Generator<string>, count: number): readonly string[] =>
  Array.from({ length: count }, () => secrets.next().value as string)

/** Calls with another key each time, on a few connections. */
class Client {
  served = 0
  /** Status and body of each. */
  readonly failures: string[] = []
  readonly #gateway: SoakedGateway
  readonly #agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })

  constructor(gateway: SoakedGateway) {
    this.#gateway = gateway
  }

  async call(secrets: readonly string[]): Promise<void> {
    const waiting = secrets.values()
    const callNext = async (): Promise<void> => {
      for (const secret of waiting) {
        const answer = await this.#ask(secret)
        if (answer.startsWith('200')) this.served += 1
        else this.failures.push(answer)
      }
    }
    await Promise.all(Array.from({ length: CONNECTIONS }, callNext))
  }

  /** The processor time of the gateway for each call, in microseconds. */
  async cpuOf(secrets: readonly string[]): Promise<number> {
    const { pids } = this.#gateway
    const before = pids.map(cpuSnapshot)
    await this.call(secrets)
    const used = pids.map((pid, index) => cpuBetween(before[index]!, cpuSnapshot(pid)).used)
    return used.reduce((sum, each) => sum + each, 0) / secrets.length / 1000
  }

  close(): void {
    this.#agent.destroy()
  }

  /** Resolves to status and body of the reply. */
  #ask(secret: string): Promise<string> {
    const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' }
    return new Promise((resolve, reject) => {
      request(`${this.#gateway.url}/v1/chat/completions`, { method: 'POST', agent: this.#agent, headers })
        .on('response', (reply) => text(reply).then((body) => resolve(`${reply.statusCode} ${body}`), reject))
        .on('error', reject)
        .end(BODY)
    })
  }
}

const REPLY = openaiReply({ text: 'Yes.' }).whole
const BODY = bodyOf({ model: 'open/whole' })
