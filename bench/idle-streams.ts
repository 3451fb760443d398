import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { CHAT } from './apis.ts'
import { cpuBetween, cpuSnapshot } from './cpu.ts'
import { memoryOf } from './memory.ts'
import type { Place } from './place.ts'
import { SHORT_CHAT, writeRequest } from './requests.ts'
import { type Subject, TOOLS } from './subjects.ts'

/** What open streams cost on which nothing happens. */
export interface IdleCost {
  readonly subject: Subject['name']
  /** Processor time of all streams together, in milliseconds per second. */
  readonly msPerSecond: number
  /** Memory of each, in KiB. */
  readonly kibibytes: number
}

/** Streams that are open at the same time. */
export const IDLE_STREAMS = 1000
/** The pause between two events of a stream, in seconds: all is measured in the first. */
const PAUSE_S = 12
/** Until all streams are open, in milliseconds. */
const OPENING_MS = 4_000
const MEASURED_MS = 4_000

/** Opens streams through a subject, and measures what they cost while their upstream is silent. */
export async function measureIdleStreams(
  subject: Subject & { readonly pid: number },
  key: string,
  place: Place,
): Promise<IdleCost> {
  const { processes, scratch, cores } = place
  const request = join(scratch, 'idle-request')
  const stream = { events: 2, delayUs: PAUSE_S * 1e6 }
  writeRequest(request, { messages: SHORT_CHAT, stream, ...subject.asks(CHAT), port: subject.port, key })
  const options = {
    '--port': subject.port,
    '--request': request,
    '--connections': IDLE_STREAMS,
    '--seconds': PAUSE_S - 2,
    '--rate': 0,
  }
  const args = Object.entries(options).flat().map(String)
  const before = memoryOf(subject.pid)
  const load = processes.run({
    name: `idle streams through ${subject.name}`,
    program: join(TOOLS, '.build/loadgen'),
    args,
    core: cores?.tools,
  })
  await delay(OPENING_MS)
  const start = cpuSnapshot(subject.pid)
  await delay(MEASURED_MS)
  const { used } = cpuBetween(start, cpuSnapshot(subject.pid))
  const kibibytes = ((memoryOf(subject.pid) - before) * 1024) / IDLE_STREAMS
  await load
  return { subject: subject.name, msPerSecond: used / 1e6 / (MEASURED_MS / 1000), kibibytes }
}
