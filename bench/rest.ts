import { setTimeout as delay } from 'node:timers/promises'
import { cpuBetween, cpuSnapshot } from './cpu.ts'
import type { Place } from './place.ts'
import { startGateway } from './subjects.ts'

/** Until a gateway that has started rests, in milliseconds. */
const SETTLING_MS = 5_000
const MEASURED_MS = 10_000

/** Starts a gateway of two workers that serves nothing. Resolves to its processor time, in milliseconds per second. */
export async function measureRest(place: Place, upstream: number, progress: (message: string) => void): Promise<number> {
  progress('at rest')
  const { subject, service } = await startGateway(place, upstream, { name: 'at-rest', workers: 2 })
  await delay(SETTLING_MS)
  const start = cpuSnapshot(subject.pid!)
  await delay(MEASURED_MS)
  const { used } = cpuBetween(start, cpuSnapshot(subject.pid!))
  service.pause()
  return used / 1e6 / (MEASURED_MS / 1000)
}
