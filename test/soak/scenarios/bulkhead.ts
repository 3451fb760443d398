import { setTimeout as delay } from 'node:timers/promises'
import { type Hold, hold, json } from '../../../core/testing/kit.ts'
import { openai } from '../../e2e/sdk/openai-dialect.ts'
import { bodyOf, createClient } from '../client.ts'
import type { SoakedGateway, SoakFixture } from '../fixture.ts'
import { namespaceOf, plainRoutes } from '../plain-routes.ts'
import { atMost, exactly, type Scenario } from '../scenario.ts'
import { median, p99OfCalls } from '../served-time.ts'

/** Calls that wait in each process: limits of concurrency are its own. */
const WAITING = 500
const PLACES = 300
/** Calls beyond them. So many more, because connections may be spread unevenly over the processes. */
const BEYOND = 50
const ROUNDS = 5
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
    const [served, refused] = [gateway.workers * WAITING, gateway.workers * BEYOND]
    serve(fixture, hold())
    await p99OfCalls(lively, 'lively/m')
    const slower: number[] = []
    const statuses: number[] = []
    for (let round = 1; round <= ROUNDS; round++) {
      const alone = await p99OfCalls(lively, 'lively/m')
      const door = hold()
      serve(fixture, door)
      const calls = Array.from({ length: served + refused }, () => waiting.call(bodyOf({ model: 'hanging/m' })))
      await allWait(gateway, served)
      const beside = await p99OfCalls(lively, 'lively/m')
      door.release()
      for (const { status } of await Promise.all(calls)) statuses.push(status)
      progress(
        `round ${round} of ${ROUNDS}: p99 ${alone.toFixed(1)} ms alone, ${beside.toFixed(1)} ms beside ${served} that wait`,
      )
      slower.push(beside - alone)
    }
    waiting.close()
    lively.close()
    const count = (wanted: number) => statuses.filter((status) => status === wanted).length
    return [
      atMost(SLOWER_MS, 'ms', `slower beside ${served} that wait, p99, median of ${ROUNDS} rounds`, median(slower)),
      exactly(ROUNDS * served, 'calls that waited and were served', count(200)),
      exactly(ROUNDS * refused, 'calls refused by 503, for which there was neither a place nor a queue', count(503)),
    ]
  },
}

function serve({ open }: SoakFixture, door: Hold): void {
  open.on(({ path }) => (path.startsWith('/hanging/') ? [door, ...ANSWER] : ANSWER))
}

/** What it took to let so many in is over by then. */
async function allWait(gateway: SoakedGateway, calls: number): Promise<void> {
  while ((await gateway.metric('umg_requests_in_flight', 'namespace="hanging"')) < calls) await delay(20)
  await delay(SETTLE_MS)
}
