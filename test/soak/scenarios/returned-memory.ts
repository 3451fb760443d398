import { setTimeout as delay } from 'node:timers/promises'
import { memoryOf } from '../../../bench/memory.ts'
import { type ScriptedUpstream, sse } from '../../../core/testing/kit.ts'
import { openai } from '../../e2e/sdk/openai-dialect.ts'
import { bodyOf, createClient } from '../client.ts'
import type { SoakedGateway } from '../fixture.ts'
import { atMost, type Scenario } from '../scenario.ts'

const STREAMS = 5_000
/** Streams and calls before the first measurement: they fill caches and compile code. */
const WARM_UP = 300
/** Streams that begin at the same time. */
const AT_ONCE = 100
/** How long the gateway rests before each measurement, in milliseconds. */
const REST_MS = 60_000
const MOST_TIMES = 1.3

/** A crowd of streams comes and leaves: the system gets the memory back that they took. */
export const returnedMemory: Scenario = {
  name: 'returned-memory',
  seconds: 300,
  async run({ gateway, open }, progress) {
    serveSilentStreams(open)
    await come(gateway, WARM_UP)
    progress('resting before')
    await delay(REST_MS)
    const before = memory(gateway)
    progress(`${STREAMS} streams`)
    const during = await come(gateway, STREAMS)
    progress('resting after')
    await delay(REST_MS)
    const after = memory(gateway)
    progress(`MiB before, with the streams, and after: ${[before, during, after].map(Math.round).join(', ')}`)
    return [atMost(MOST_TIMES, 'x', `memory (PSS) a minute after ${STREAMS} streams have left, of that before`, after / before)]
  },
}

/** An upstream whose streams are silent after their first event, until their client has left. */
function serveSilentStreams(upstream: ScriptedUpstream): void {
  const [head, first] = sse([...openai.events({ text: ['Hello!'] })])
  upstream.on(async function* ({ closed }) {
    yield* [head!, first!]
    await closed
  })
}

/** Opens so many streams, and leaves them. Resolves to the memory while all of them are open, in MiB. */
async function come(gateway: SoakedGateway, streams: number): Promise<number> {
  const client = createClient(gateway, gateway.keys.many)
  const calls: Promise<unknown>[] = []
  while (calls.length < streams) {
    for (let call = 0; call < AT_ONCE; call++)
      calls.push(client.call(bodyOf({ model: 'open/silent', stream: true })).catch(() => 0))
    await areOpen(gateway, calls.length)
  }
  const during = memory(gateway)
  client.close()
  await Promise.all(calls)
  await areOpen(gateway, 0)
  return during
}

async function areOpen(gateway: SoakedGateway, streams: number): Promise<void> {
  while ((await gateway.metric('umg_requests_in_flight')) !== streams) await delay(50)
}

const memory = ({ pids }: SoakedGateway): number => pids.reduce((sum, pid) => sum + memoryOf(pid), 0)
