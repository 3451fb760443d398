import { setTimeout as delay } from 'node:timers/promises'
import { hold, json } from '../../../core/testing/kit.ts'
import { openai } from '../../e2e/sdk/openai-dialect.ts'
import { type RawConnection, rawConnection } from '../../support/raw-connection.ts'
import { bodyOf, callBytes, createClient } from '../client.ts'
import { settled } from '../holdings.ts'
import { atMost, exactly, type Finding, type Line, within } from '../line.ts'
import type { SoakedGateway, Stage } from '../stage.ts'
import { type Phase, phasesOf } from './abort-phases.ts'

/** In each phase. */
const ABORTS = 200

/** Calls that a key of the class `few` may have under way: routes.yaml. */
const PLACES = 16

/** Half a close counts as one too: what waits for the reply may be gone all the same. */
const WAYS: readonly ((connection: RawConnection) => void)[] = [
  ({ socket }) => socket.destroy(),
  ({ socket }) => socket.resetAndDestroy(),
  ({ socket }) => socket.end(),
]

/** Clients that leave: whatever the gateway was doing for them ends, and nothing of it is left. */
export const aborts: Line = {
  name: 'aborts',
  seconds: 45,
  async run(stage, progress) {
    const { gateway } = stage
    const phases = phasesOf(stage)
    for (const phase of phases) for (let index = 0; index < 6; index++) await leave(gateway, phase, index)
    const before = await settled(gateway)
    const countedBefore = await clientsClosed(gateway)
    progress(`${ABORTS} clients leave in each of ${phases.length} phases`)
    const times = await Promise.all(phases.map((phase) => leaveOften(gateway, phase)))
    const after = await settled(gateway)
    const counted = (await clientsClosed(gateway)) - countedBefore
    progress('the places they held are taken again')
    return [
      ...phases.map(({ name }, index) => atMost(250, 'ms', `closed after an abort ${name}, p99`, p99(times[index]!))),
      exactly(ABORTS * phases.length, 'aborts counted as client_closed', counted),
      exactly(0, 'calls in flight afterwards', await gateway.metric('umg_requests_in_flight')),
      within(2, 'descriptors', after.descriptors - before.descriptors),
      ...(await placesLeft(stage)),
    ]
  },
}

async function leaveOften(gateway: SoakedGateway, phase: Phase): Promise<number[]> {
  const times: number[] = []
  for (let index = 0; index < ABORTS; index++) times.push(await leave(gateway, phase, index))
  return times
}

/** Every way of leaving meets streams and whole replies. Resolves to the milliseconds until what was done for the client had ended. */
async function leave(gateway: SoakedGateway, phase: Phase, index: number): Promise<number> {
  const arrived = phase.arrival()
  const connection = await rawConnection(gateway.url)
  connection.write(callBytes(gateway.keys.few, bodyOf({ model: phase.model, stream: index % 2 === 0 })))
  const { gone } = await Promise.race([arrived, answered(connection)])
  // Before, while, and after the gateway has taken in what the upstream sent last.
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

/** A place that was not given back is missing here; one that was given back twice is one too many. */
async function placesLeft({ gateway, open }: Stage): Promise<Finding[]> {
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
