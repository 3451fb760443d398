import { type RawConnection, rawConnection } from '../../support/raw-connection.ts'
import { startBackgroundClient } from '../background-client.ts'
import { bodyOf, callBytes } from '../client.ts'
import type { SoakedGateway } from '../fixture.ts'
import { growth, idleResources } from '../resources.ts'
import { atMost, exactly, type Finding, type Scenario, within } from '../scenario.ts'
import { LongStreams } from './long-streams.ts'

/** A group of clients with streams of one length. */
interface ReaderGroup {
  readonly readers: number
  readonly megabytes: number
}

/** So many that the memory of each is measured to 5 KB: what four processes take by themselves varies by 300. */
const FEW: ReaderGroup = { readers: 60, megabytes: 20 }
const MANY: ReaderGroup = { readers: 300, megabytes: 20 }
const MANY_OF_LONGER: ReaderGroup = { readers: 300, megabytes: 40 }

const KB = 1024
const MB = 1024 * KB

/** Clients that stop reading: the memory for each is bounded, whatever the length of its stream and the number of clients. */
export const slowReaders: Scenario = {
  name: 'slow-readers',
  seconds: 330,
  async run({ gateway, open }, progress) {
    const upstream = new LongStreams(open)
    progress('warming up')
    leave(await stuckReaders(gateway, upstream, FEW))
    await upstream.cut()
    const bytes: number[] = []
    const findings: Finding[] = []
    for (const group of [FEW, MANY, MANY_OF_LONGER]) {
      progress(`${nameOf(group)} stop reading`)
      const cost = await costOf(group, gateway, upstream)
      bytes.push(cost.during / group.readers)
      findings.push(...findingsOf(group, cost))
    }
    const [few, many, longer] = bytes as [number, number, number]
    return [
      ...findings,
      atMost(1.2, 'x', 'memory of one of 300 readers, compared with one of 60', many / few),
      within(20, 'memory of a reader of 40 MB, compared with one of 20 MB, %', (longer / many - 1) * 100),
      exactly(0, 'streams that ended before they were stuck', upstream.ended),
      exactly(0, 'calls in flight afterwards', await gateway.metric('umg_requests_in_flight')),
    ]
  },
}

/** The gateway's cost of a group of clients. */
interface Cost {
  /** Bytes while the readers were stuck. */
  readonly during: number
  /** Bytes after they were cut. */
  readonly afterwards: number
  /** File descriptors after that. */
  readonly descriptors: number
  /** Milliseconds of the slowest call of another client. */
  readonly slowest: number
}

async function costOf(group: ReaderGroup, gateway: SoakedGateway, upstream: LongStreams): Promise<Cost> {
  const before = await idleResources(gateway)
  const background = startBackgroundClient(gateway, 'open/small')
  const readers = await stuckReaders(gateway, upstream, group)
  const during = await gateway.resources()
  await upstream.cut()
  const slowest = await background.stop()
  leave(readers)
  const after = await idleResources(gateway)
  return {
    during: growth(before, during),
    afterwards: growth(before, after),
    descriptors: after.descriptors - before.descriptors,
    slowest,
  }
}

async function stuckReaders(
  gateway: SoakedGateway,
  upstream: LongStreams,
  group: ReaderGroup,
): Promise<readonly RawConnection[]> {
  const readers = await Promise.all(Array.from({ length: group.readers }, () => startReading(gateway, group)))
  await upstream.stuck()
  return readers
}

/** A client that reads the first event only. */
async function startReading(gateway: SoakedGateway, { megabytes }: ReaderGroup): Promise<RawConnection> {
  const connection = await rawConnection(gateway.url)
  connection.write(callBytes(gateway.keys.many, bodyOf({ model: `open/${megabytes}`, stream: true })))
  await connection.until('data: ')
  connection.socket.pause()
  return connection
}

function leave(readers: readonly RawConnection[]): void {
  for (const { socket } of readers) socket.destroy()
}

const nameOf = ({ readers, megabytes }: ReaderGroup): string => `${readers} readers of ${megabytes} MB`

function findingsOf(group: ReaderGroup, { during, afterwards, descriptors, slowest }: Cost): Finding[] {
  const name = nameOf(group)
  return [
    atMost(256, 'KB', `${name}: memory of each while they are stuck`, during / group.readers / KB),
    atMost(2_000, 'ms', `${name}: the slowest call beside them`, slowest),
    atMost(2, 'MB', `${name}: memory kept when they have been cut`, afterwards / MB),
    within(2, `${name}: descriptors kept`, descriptors),
  ]
}
