import { setTimeout as delay } from 'node:timers/promises'
import { hold, json } from '../../../core/testing/kit.ts'
import { openai } from '../../e2e/sdk/openai-dialect.ts'
import { type RawConnection, rawConnection } from '../../support/raw-connection.ts'
import { bodyOf, callBytes, createClient } from '../client.ts'
import type { SoakedGateway, SoakFixture } from '../fixture.ts'
import { idleResources } from '../resources.ts'
import { atMost, exactly, type Finding, type Scenario, within } from '../scenario.ts'
import { type Phase, phasesOf } from './abort-phases.ts'

/** Disconnects in each phase. */
const ABORTS = 200

/** Concurrent calls of a key of the class `few`: routes.yaml. */
const PLACES = 16

/** Ways to disconnect. A half-close counts as one: nobody may be reading the reply. */
const WAYS: readonly ((connection: RawConnection) => void)[] = [
  ({ socket }) => socket.destroy(),
  ({ socket }) => socket.resetAndDestroy(),
  ({ socket }) => socket.end(),
]

/** Clients that disconnect: all work for them ends, and all resources are released. */
export const aborts: Scenario = {
  name: 'aborts',
  seconds: 45,
  async run(fixture, progress) {
    const { gateway } = fixture
    const phases = phasesOf(fixture)
    for (const phase of phases) for (let index = 0; index < 6; index++) await leave(gateway, phase, index)
    const before = await idleResources(gateway)
    const countedBefore = await clientsClosed(gateway)
    progress(`${ABORTS} clients disconnect in each of ${phases.length} phases`)
    const times = await Promise.all(phases.map((phase) => leaveOften(gateway, phase)))
    const after = await idleResources(gateway)
    const counted = (await clientsClosed(gateway)) - countedBefore
    progress('the concurrent calls of the key are used again')
    return [
      ...phases.map(({ name }, index) => atMost(250, 'ms', `closed after an abort ${name}, p99`, p99(times[index]!))),
      exactly(ABORTS * phases.length, 'aborts counted as client_closed', counted),
      exactly(0, 'calls in flight afterwards', await gateway.metric('umg_requests_in_flight')),
      within(2, 'descriptors', after.descriptors - before.descriptors),
      ...(await placesLeft(fixture)),
    ]
  },
}

async function leaveOften(gateway: SoakedGateway, phase: Phase): Promise<number[]> {
  const times: number[] = []
  for (let index = 0; index < ABORTS; index++) times.push(await leave(gateway, phase, index))
  return times
}

/** Disconnects from a stream or a whole reply. Resolves to the milliseconds until the upstream connection has closed. */
async function leave(gateway: SoakedGateway, phase: Phase, index: number): Promise<number> {
  const arrived = phase.arrival()
  const connection = await rawConnection(gateway.url)
  connection.write(callBytes(gateway.keys.few, bodyOf({ model: phase.model, stream: index % 2 === 0 })))
  const { gone } = await Promise.race([arrived, answered(connection)])
  // Before, while and after the gateway reads the upstream's last bytes.
  await delay(index % 10)
  const leftAt = performance.now()
  WAYS[index % WAYS.length]!(connection)
  await gone()
  const took = performance.now() - leftAt
  connection.socket.destroy()
  return took
}

async function answered(connection: RawConnection): Promise<never> {
  const { status, body } = await connection.reply()
  throw new Error(`a call that should have waited was answered ${status} ${body}`)
}

const clientsClosed = (gateway: SoakedGateway): Promise<number> => gateway.metric('umg_requests_total', 'outcome="client_closed"')

/** Expects the key to have all its concurrent calls again, no more and no fewer. */
async function placesLeft({ gateway, open }: SoakFixture): Promise<Finding[]> {
  const gate = hold()
  let waiting = 0
  open.on(() => {
    waiting++
    return json(openai.whole({ text: ['Hello!'] }), {}).toSpliced(0, 0, gate)
  })
  const client = createClient(gateway, gateway.keys.few)
  const statuses: number[] = []
  const calls = Array.from({ length: PLACES + 1 }, async () => {
    statuses.push((await client.call(bodyOf({ model: 'open/gpt-x' }))).status)
  })
  while (waiting + statuses.length <= PLACES) await delay(10)
  gate.release()
  await Promise.all(calls)
  client.close()
  return [exactly(PLACES, `calls served at once, of ${PLACES} that may be`, statuses.filter((status) => status === 200).length)]
}

const p99 = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.99)]!
