import { setTimeout as delay } from 'node:timers/promises'
import { hold, json, type ReceivedRequest, sse } from '../../../core/testing/kit.ts'
import { openai } from '../../e2e/sdk/openai-dialect.ts'
import { rawConnection } from '../../support/raw-connection.ts'
import { atRate } from '../at-rate.ts'
import { bodyOf, callBytes, createClient } from '../client.ts'
import type { SoakFixture } from '../fixture.ts'
import { namespaceOf, plainRoutes } from '../plain-routes.ts'
import { atMost, exactly, type Scenario } from '../scenario.ts'

const PER_SECOND = 200
const SECONDS = 30

/** Calls of each kind that fail because of the client. */
const CLIENT_FAILURES = 5000
/** Concurrent calls. */
const CONCURRENCY = 20

const TABLE = plainRoutes(
  namespaceOf('bad') +
    namespaceOf('good') +
    namespaceOf('better') +
    '  three: { models: { m: { targets: [{ model: bad/m }, { model: good/m }, { model: better/m }] } } }',
)

/** One target of three fails: calls avoid it and succeed. Failures caused by clients open no breaker. */
export const failingTarget: Scenario = {
  name: 'failing-target',
  seconds: 180,
  table: TABLE,
  async run(fixture, progress) {
    const { gateway, open } = fixture
    const client = createClient(gateway, gateway.keys.many)
    let toBad = 0
    open.on(({ path }: ReceivedRequest) => {
      if (!path.startsWith('/bad/')) return json(openai.whole({ text: ['Hello!'] }))
      toBad++
      return json(openai.error(500, 'No.'), { status: 500 })
    })
    const call = () => client.call(bodyOf({ model: 'three/m' }))
    const opened = (which: string) => gateway.output().split(new RegExp(`"namespace":"${which}".*circuit open`)).length - 1
    progress('one target of three fails')
    // Each process has breakers of its own, and as many calls at once reach all of them.
    while (opened('bad') < gateway.workers) await Promise.all(Array.from({ length: gateway.workers }, call))
    toBad = 0
    const calls = PER_SECOND * SECONDS
    const answers = await atRate(PER_SECOND, calls, call)
    const share = (100 * toBad) / calls
    progress(`${CLIENT_FAILURES} invalid calls`)
    await refuseAll(fixture, () => client.call(bodyOf({ model: 'good/m' })))
    progress(`${CLIENT_FAILURES} clients disconnect`)
    await leaveAll(fixture)
    client.close()
    return [
      atMost(1, '%', `of ${calls} calls that reach a target whose breaker is open`, share),
      exactly(0, 'calls that failed for it', answers.filter(({ status }) => status !== 200).length),
      exactly(
        0,
        `breakers opened by ${CLIENT_FAILURES} refused requests and ${CLIENT_FAILURES} departures`,
        opened('good') + opened('better'),
      ),
    ]
  },
}

async function refuseAll({ open }: SoakFixture, call: () => Promise<{ readonly status: number }>): Promise<void> {
  open.on(() => json(openai.error(400, 'No.'), { status: 400 }))
  await concurrently(async () => {
    const { status } = await call()
    if (status !== 400) throw new Error(`a request that the upstream refuses was answered ${status}`)
  })
}

/** Disconnects from whole replies before their first byte, and from streams in the middle. */
async function leaveAll({ gateway, open }: SoakFixture): Promise<void> {
  const events = openai.events({ text: ['Hel', 'lo!'] })
  const awaited = new Map<unknown, () => void>()
  open.on((request) => {
    const { model, stream } = request.json() as { readonly model: string; readonly stream: boolean }
    const stall = hold()
    void stall.reached.then(() => awaited.get(model)!())
    return stream ? sse([...events.slice(0, 2), stall]) : [stall]
  })
  await concurrently(async (index, worker) => {
    const model = `worker-${worker}`
    const arrived = new Promise<void>((resolve) => awaited.set(model, resolve))
    const connection = await rawConnection(gateway.url)
    connection.write(callBytes(gateway.keys.many, bodyOf({ model: `good/${model}`, stream: index % 2 === 0 })))
    await arrived
    connection.socket.destroy()
  })
  while ((await gateway.metric('umg_requests_in_flight')) > 0) await delay(50)
}

async function concurrently(work: (index: number, worker: number) => Promise<void>): Promise<void> {
  let next = 0
  const run = async (worker: number) => {
    while (next < CLIENT_FAILURES) await work(next++, worker)
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, (_, worker) => run(worker)))
}
