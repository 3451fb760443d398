import { setTimeout as delay } from 'node:timers/promises'
import { bodyOf, type Client, createClient } from '../client.ts'
import { serveEndlessStreams } from '../endless-streams.ts'
import type { SoakedGateway } from '../fixture.ts'
import { atMost, exactly, type Finding, type Scenario } from '../scenario.ts'
import { HOSTILE, type HostileBody } from './hostile-bodies.ts'

const LATEST_MS = 50

/** Repetitions of each body: the median ignores other load on the machine. */
const TIMES = 5

/** Time for the work after a body: forwarding it, the log, garbage collection. */
const AFTERMATH_MS = 200

const STREAMS = 20

/** Bodies made to be slow must not delay other calls. */
export const eventLoop: Scenario = {
  name: 'event-loop',
  seconds: 40,
  async run({ gateway, open }, progress) {
    const over = new AbortController()
    serveEndlessStreams(open, over.signal)
    const client = createClient(gateway, gateway.keys.many)
    const streams = Array.from({ length: STREAMS }, () => client.call(bodyOf({ model: 'open/endless', stream: true })))
    const findings: Finding[] = []
    for (const hostile of HOSTILE) {
      const times = await latenessesOf(hostile, client, gateway)
      progress(`late with ${hostile.name}, ms: ${times.map(Math.round).join(', ')}`)
      findings.push(atMost(LATEST_MS, 'ms', `late with ${hostile.name}, median of ${TIMES}`, median(times)))
    }
    over.abort()
    const broken = (await Promise.all(streams)).filter(({ body }) => !body.endsWith('data: [DONE]\n\n'))
    client.close()
    return [...findings, exactly(0, `streams beside them, of ${STREAMS}, that broke off`, broken.length)]
  },
}

/** The longest delay of the event loop for each repetition, in milliseconds. Throws if the status differs from the expected one. */
async function latenessesOf({ name, body, status }: HostileBody, client: Client, gateway: SoakedGateway): Promise<number[]> {
  const times: number[] = []
  for (let time = 0; time < TIMES; time++) {
    await gateway.lateness()
    const answer = await client.call(body)
    if (answer.status !== status) throw new Error(`${name}: answered ${answer.status} ${answer.body}`)
    await delay(AFTERMATH_MS)
    times.push(await gateway.lateness())
  }
  return times
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1]!
