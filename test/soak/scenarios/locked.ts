import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { atRate, p99 } from '../at-rate.ts'
import { bodyOf, type Client, createClient } from '../client.ts'
import { serveEndlessStreams } from '../endless-streams.ts'
import type { SoakedGateway } from '../fixture.ts'
import { createKey } from '../management.ts'
import { atMost, exactly, type Scenario } from '../scenario.ts'

const LOCKED_S = 12
/** Until V8 has compiled what runs often. */
const WARM_UP_S = 3
const PER_SECOND = 200
const SLOWER_MS = 20
const LATEST_MS = 50
const STREAMS = 20
/** Pause between two creations of a key. */
const PAUSE_MS = 500
/** Rows are written a second after a call, and again a second after a failure. */
const WRITTEN_MS = 5000

/** Another process holds the write lock of the SQLite file: only who writes to it notices. */
export const locked: Scenario = {
  name: 'locked',
  seconds: 120,
  async run({ gateway, open, workspace }, progress) {
    const over = new AbortController()
    serveEndlessStreams(open, over.signal)
    const client = createClient(gateway, gateway.keys.many)
    const streams = Array.from({ length: STREAMS }, () => client.call(bodyOf({ model: 'open/endless', stream: true })))
    const warmUp = await callFor(WARM_UP_S, client)
    const before = await callFor(LOCKED_S, client)
    const file = new DatabaseSync(join(workspace.scratch, 'gateway.db'))
    progress(`locking the database for ${LOCKED_S} seconds`)
    file.exec('begin immediate')
    await gateway.lateness()
    const creating = createKeys(gateway, LOCKED_S)
    const during = await callFor(LOCKED_S, client)
    const late = await gateway.lateness()
    file.exec('rollback')
    const refused = await creating
    over.abort()
    const streamed = await Promise.all(streams)
    await createKey(gateway, 'afterwards')
    await delay(WRITTEN_MS)
    const [row] = file.prepare('select count(*) as count from calls').all()
    file.close()
    client.close()
    progress(`p99 ${p99(before).toFixed(1)} ms before, ${p99(during).toFixed(1)} ms during; keys: ${refused.join('; ')}`)
    for (const [status, answers] of Map.groupBy(during, ({ status }) => status))
      progress(`${answers.length} calls were answered ${status}, such as by ${answers[0]!.body}`)
    const meanwhile = `locked for ${LOCKED_S} s:`
    const calls = [...warmUp, ...before, ...during, ...streamed]
    return [
      atMost(SLOWER_MS, 'ms', `${meanwhile} calls slower, p99`, p99(during) - p99(before)),
      atMost(LATEST_MS, 'ms', `${meanwhile} the event loop late`, late),
      exactly(0, `${meanwhile} of ${during.length} calls, not served`, during.filter(({ status }) => status !== 200).length),
      exactly(
        0,
        `${meanwhile} streams beside them, of ${STREAMS}, that broke off`,
        streamed.filter(({ body }) => !body.endsWith('data: [DONE]\n\n')).length,
      ),
      exactly(
        0,
        `${meanwhile} of ${refused.length} refused creations of a key, not answered 503`,
        refused.filter((reason) => !reason.includes('was answered 503')).length,
      ),
      exactly(0, `afterwards, of ${calls.length} calls, without a row`, calls.length - Number(row!.count)),
    ]
  },
}

const callFor = (seconds: number, client: Client) =>
  atRate(PER_SECOND, PER_SECOND * seconds, () => client.call(bodyOf({ model: 'open/whole' })))

/** Creates keys, one after the other. Resolves to the errors of those that were refused. */
async function createKeys(gateway: SoakedGateway, seconds: number): Promise<readonly string[]> {
  const refused: string[] = []
  const end = performance.now() + seconds * 1000
  while (performance.now() < end) {
    await createKey(gateway, 'meanwhile').catch((error: Error) => refused.push(error.message))
    await delay(PAUSE_MS)
  }
  return refused
}
