import { availableParallelism } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { bodyOf, type Client, createClient } from '../client.ts'
import { growth, idleResources, type ProcessResources } from '../resources.ts'
import { atMost, exactly, type Scenario, within } from '../scenario.ts'
import { type Kind, kindOf, serveKinds } from './call-mix.ts'

const PER_SECOND = 200
const SECONDS_A_ROUND = 5
/** Rounds to fill caches and pools and to compile code. */
const WARM_UP_ROUNDS = 4
const ROUNDS = 12

const MB = 1024 * 1024

/** A minute of calls of every kind: the gateway's resources between them must not grow. */
export const leak: Scenario = {
  name: 'leak',
  seconds: 180,
  async run({ gateway, open, claude }, progress) {
    serveKinds({ open, claude })
    const client = createClient(gateway, gateway.keys.many)
    const measurements: Measurement[] = []
    let unexpected = 0
    for (let round = 0; round < WARM_UP_ROUNDS + ROUNDS; round++) {
      progress(`round ${round + 1} of ${WARM_UP_ROUNDS + ROUNDS}${round < WARM_UP_ROUNDS ? ', warming up' : ''}`)
      unexpected += await callAll(client)
      if (round >= WARM_UP_ROUNDS - 1)
        measurements.push({ at: performance.now(), resources: await idleResources(gateway), clients: client.connections })
    }
    client.close()
    return [
      exactly(0, `calls of ${(WARM_UP_ROUNDS + ROUNDS) * SECONDS_A_ROUND * PER_SECOND} that ended unlike their kind`, unexpected),
      atMost(1, 'MB a minute', 'growth of memory', slope(measurements) / MB),
      within(
        2,
        'descriptors',
        drift(measurements, ({ resources, clients }) => resources.descriptors - clients),
      ),
      atMost(
        gateway.pids.length * availableParallelism(),
        '',
        'threads more than at the beginning',
        drift(measurements, ({ resources }) => resources.eventLoops),
      ),
      within(
        2,
        'timers and requests',
        drift(measurements, ({ resources }) => resources.handles.filter(isNoSocket).length),
      ),
      exactly(0, 'calls in flight afterwards', await gateway.metric('umg_requests_in_flight')),
    ]
  },
}

/** The resources after a round. */
interface Measurement {
  /** Milliseconds. */
  readonly at: number
  readonly resources: ProcessResources
  /** The client's open connections. */
  readonly clients: number
}

/** Makes a round of calls at a constant rate. Resolves to the number of calls with an unexpected end. */
async function callAll(client: Client): Promise<number> {
  const startedAt = performance.now()
  const calls: Promise<boolean>[] = []
  for (let index = 0; index < SECONDS_A_ROUND * PER_SECOND; index++) {
    await delay(Math.max(0, startedAt + (index * 1000) / PER_SECOND - performance.now()))
    calls.push(endsAsExpected(client, kindOf(index)))
  }
  return (await Promise.all(calls)).filter((expected) => !expected).length
}

async function endsAsExpected(client: Client, { dialect, name, stream, leaveAt, isExpected }: Kind): Promise<boolean> {
  try {
    return isExpected(await client.call(bodyOf({ model: `${dialect.namespace}/${name}`, stream }), leaveAt))
  } catch {
    return false
  }
}

/** The change from the first to the last measurement. */
const drift = (measurements: readonly Measurement[], count: (measurement: Measurement) => number): number =>
  count(measurements.at(-1)!) - count(measurements[0]!)

/** Sockets are counted as descriptors: those of clients, and those between processes. */
const isNoSocket = (resource: string): boolean => resource !== 'TCPSocketWrap' && resource !== 'PipeWrap'

/** Bytes a minute, by least squares. */
function slope(measurements: readonly Measurement[]): number {
  const [first] = measurements as [Measurement]
  const points = measurements.map(({ at, resources }) => ({ x: (at - first.at) / 60_000, y: growth(first.resources, resources) }))
  const mean = (axis: 'x' | 'y') => points.reduce((sum, point) => sum + point[axis], 0) / points.length
  const [x, y] = [mean('x'), mean('y')]
  const covariance = points.reduce((sum, point) => sum + (point.x - x) * (point.y - y), 0)
  return covariance / points.reduce((sum, point) => sum + (point.x - x) ** 2, 0)
}
