import { setTimeout as delay } from 'node:timers/promises'
import { hold, json, type ReceivedRequest, sse } from '../../../core/testing/kit.ts'
import { openai } from '../../e2e/sdk/openai-dialect.ts'
import { rawConnection } from '../../support/raw-connection.ts'
import { bodyOf, callBytes, createClient } from '../client.ts'
import { atMost, exactly, type Line } from '../line.ts'
import { paced } from '../paced.ts'
import { namespaceOf, plainTable } from '../plain-table.ts'
import type { Stage } from '../stage.ts'

const PER_SECOND = 200
const SECONDS = 30

/** Of each of the two ways in which a client fails an upstream. */
const BLAMELESS = 5000
/** So many at once. */
const LANES = 20

const TABLE = plainTable(
  namespaceOf('bad') +
    namespaceOf('good') +
    namespaceOf('better') +
    '  three: { models: { m: { targets: [{ model: bad/m }, { model: good/m }, { model: better/m }] } } }',
)

/** One target of three is sick: it is avoided, and no call fails for it. A healthy one is never blamed for what its clients do. */
export const sickTarget: Line = {
  name: 'sick-target',
  seconds: 180,
  table: TABLE,
  async run(stage, progress) {
    const { gateway, open } = stage
    const client = createClient(gateway, gateway.keys.many)
    let toBad = 0
    open.on(({ path }: ReceivedRequest) => {
      if (!path.startsWith('/bad/')) return json(openai.whole({ text: ['Hello!'] }))
      toBad++
      return json(openai.error(500, 'No.'), { status: 500 })
    })
    const call = () => client.call(bodyOf({ model: 'three/m' }))
    progress('one target of three fails')
    while ((await gateway.metric('umg_circuit_state', 'namespace="bad",model="m",state="open"')) === 0) await call()
    toBad = 0
    const calls = PER_SECOND * SECONDS
    const answers = await paced(PER_SECOND, calls, call)
    const share = (100 * toBad) / calls
    progress(`${BLAMELESS} calls that no upstream could serve`)
    await refuseAll(stage, () => client.call(bodyOf({ model: 'good/m' })))
    progress(`${BLAMELESS} clients leave`)
    await leaveAll(stage)
    client.close()
    const opened = (which: string) => gateway.output().split(new RegExp(`"namespace":"${which}".*fails too often`)).length - 1
    if (opened('bad') === 0) throw new Error('the log tells of no breaker')
    return [
      atMost(1, '%', `of ${calls} calls that reach a target whose breaker is open`, share),
      exactly(0, 'calls that failed for it', answers.filter(({ status }) => status !== 200).length),
      exactly(
        0,
        `breakers opened by ${BLAMELESS} refused requests and ${BLAMELESS} departures`,
        opened('good') + opened('better'),
      ),
    ]
  },
}

async function refuseAll({ open }: Stage, call: () => Promise<{ readonly status: number }>): Promise<void> {
  open.on(() => json(openai.error(400, 'No.'), { status: 400 }))
  await inLanes(async () => {
    const { status } = await call()
    if (status !== 400) throw new Error(`a request that the upstream refuses was answered ${status}`)
  })
}

/** Of whole replies before their first byte, and of streams in the middle. */
async function leaveAll({ gateway, open }: Stage): Promise<void> {
  const events = openai.events({ text: ['Hel', 'lo!'] })
  const awaited = new Map<unknown, () => void>()
  open.on((request) => {
    const { model, stream } = request.json() as { readonly model: string; readonly stream: boolean }
    const stall = hold()
    void stall.reached.then(() => awaited.get(model)!())
    return stream ? sse([...events.slice(0, 2), stall]) : [stall]
  })
  await inLanes(async (index, lane) => {
    const model = `lane-${lane}`
    const arrived = new Promise<void>((resolve) => awaited.set(model, resolve))
    const connection = await rawConnection(gateway.url)
    connection.write(callBytes(gateway.keys.many, bodyOf({ model: `good/${model}`, stream: index % 2 === 0 })))
    await arrived
    connection.socket.destroy()
  })
  while ((await gateway.metric('umg_requests_in_flight')) > 0) await delay(50)
}

async function inLanes(work: (index: number, lane: number) => Promise<void>): Promise<void> {
  let next = 0
  const run = async (lane: number) => {
    while (next < BLAMELESS) await work(next++, lane)
  }
  await Promise.all(Array.from({ length: LANES }, (_, lane) => run(lane)))
}
