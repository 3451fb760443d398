import { setTimeout as delay } from 'node:timers/promises'
import { type Hold, hold, json } from '../../../core/testing/kit.ts'
import { openai } from '../../e2e/sdk/openai-dialect.ts'
import { atRate, p99 } from '../at-rate.ts'
import { bodyOf, type Client, createClient } from '../client.ts'
import type { SoakedGateway, SoakFixture } from '../fixture.ts'
import { namespaceOf, plainRoutes } from '../plain-routes.ts'
import { atMost, exactly, type Scenario } from '../scenario.ts'

const WAITING = 500
const PLACES = 300
const ROUNDS = 5
const PER_SECOND = 200
const SECONDS = 5
const SLOWER_MS = 5
const SETTLE_MS = 1000

const TABLE = plainRoutes(
  namespaceOf('hanging', `, concurrency: { limit: ${PLACES}, queue: ${WAITING - PLACES}, wait: 5m }`) + namespaceOf('lively'),
)

const ANSWER = json(openai.whole({ text: ['Hello!'] }))

/** An upstream hangs, and hundreds wait for it: those who ask another one notice nothing. */
export const bulkhead: Scenario = {
  name: 'bulkhead',
  seconds: 150,
  table: TABLE,
  async run(fixture, progress) {
    const { gateway } = fixture
    const waiting = createClient(gateway, gateway.keys.many)
    const lively = createClient(gateway, gateway.keys.many)
    serve(fixture, hold())
    await timeOf(lively)
    const slower: number[] = []
    let refused = 0
    for (let round = 1; round <= ROUNDS; round++) {
      const alone = await timeOf(lively)
      const door = hold()
      serve(fixture, door)
      const calls = Array.from({ length: WAITING }, () => waiting.call(bodyOf({ model: 'hanging/m' })))
      await allWait(gateway)
      const beside = await timeOf(lively)
      const { status } = await waiting.call(bodyOf({ model: 'hanging/m' }))
      if (status === 503) refused++
      door.release()
      const answers = await Promise.all(calls)
      if (answers.some((answer) => answer.status !== 200)) throw new Error('a call that waited was not served in the end')
      progress(
        `round ${round} of ${ROUNDS}: p99 ${alone.toFixed(1)} ms alone, ${beside.toFixed(1)} ms beside ${WAITING} that wait`,
      )
      slower.push(beside - alone)
    }
    waiting.close()
    lively.close()
    return [
      atMost(SLOWER_MS, 'ms', `slower beside ${WAITING} that wait, p99, median of ${ROUNDS} rounds`, median(slower)),
      exactly(ROUNDS, `calls refused by 503, of ${ROUNDS} for which there was neither a place nor a queue`, refused),
    ]
  },
}

function serve({ open }: SoakFixture, door: Hold): void {
  open.on(({ path }) => (path.startsWith('/hanging/') ? [door, ...ANSWER] : ANSWER))
}

/** What it took to let so many in is over by then. */
async function allWait(gateway: SoakedGateway): Promise<void> {
  while ((await gateway.metric('umg_requests_in_flight', 'namespace="hanging"')) < WAITING) await delay(20)
  await delay(SETTLE_MS)
}

async function timeOf(client: Client): Promise<number> {
  return p99(await atRate(PER_SECOND, PER_SECOND * SECONDS, () => client.call(bodyOf({ model: 'lively/m' }))))
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1]!
