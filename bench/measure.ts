import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { cpuBetween, cpuSnapshot } from './cpu.ts'
import { httpRequest } from './requests.ts'
import type { Scenario } from './scenarios.ts'
import { type Place, type Subject, type Subjects, TOOLS } from './subjects.ts'

/** One scenario through one subject in one round. Times are microseconds. */
export interface Measurement {
  readonly scenario: Scenario
  readonly subject: Subject['name']
  /** Processor time of the subject's whole process tree per unit; absent where there is no subject to spend it. */
  readonly cpu?: number
  /** How much of the time in which it could have run, 0 to 1, the subject waited for its core. Absent as `cpu`. */
  readonly waited?: number
  /** Units per second; absent where the scenario sets the rate. */
  readonly perSecond?: number
  readonly p50: number
  readonly p99: number
  readonly firstByte: number
}

/** What is measured. */
export interface Plan {
  readonly scenarios: readonly Scenario[]
  readonly rounds: number
  /** Told what is being done, for whoever waits. */
  readonly progress: (message: string) => void
}

interface Quantiles {
  readonly p50: number
  readonly p99: number
}

/** What tools/loadgen.c prints. */
interface LoadResult {
  readonly completed: number
  readonly seconds: number
  readonly latency: Quantiles
  readonly firstByte: Quantiles
  readonly eventDelay: Quantiles | null
}

/** Work that follows a reply (the log, metrics, token counts) is the reply's cost too: it has so long to be done. */
const SETTLE_MS = 100

/** A compiler that learns from what runs, such as V8, takes some 30,000 requests to settle. */
const MOST_WARM_UPS = 12
const SETTLED = 0.95

/** Measures every scenario through every subject, in rounds: what slows the machine for a while then slows all subjects alike. */
export async function measure(plan: Plan, place: Place, subjects: Subjects): Promise<Measurement[]> {
  const { scenarios, rounds, progress } = plan
  const once = (scenario: Scenario, subject: Subject) => measureOnce({ scenario, subject, key: subjects.key }, place)

  for (const scenario of scenarios) {
    progress(`warming up: ${scenario.name}`)
    for (const subject of subjects.all) await warmUp(() => once(scenario, subject))
  }
  const measurements: Measurement[] = []
  for (let round = 0; round < rounds; round++) {
    for (const scenario of scenarios) {
      progress(`round ${round + 1} of ${rounds}: ${scenario.name}`)
      for (const subject of rotate(subjects.all, round)) measurements.push(await once(scenario, subject))
    }
  }
  return measurements
}

/** Repeats a measurement until CPU no longer falls. */
async function warmUp(once: () => Promise<Measurement>): Promise<void> {
  let lowest = Number.POSITIVE_INFINITY
  for (let pass = 0; pass < MOST_WARM_UPS; pass++) {
    const { cpu } = await once()
    if (cpu === undefined || cpu > lowest * SETTLED) return
    lowest = cpu
  }
}

interface Case {
  readonly scenario: Scenario
  readonly subject: Subject
  readonly key: string
}

async function measureOnce(target: Case, place: Place): Promise<Measurement> {
  const { scenario, subject } = target
  const before = subject.pid && cpuSnapshot(subject.pid)
  const load = await runLoad(target, place)
  await delay(SETTLE_MS)
  const cpu = subject.pid && before && cpuBetween(before, cpuSnapshot(subject.pid))

  const units = load.completed * (scenario.unit === 'event' ? scenario.stream!.events : 1)
  const quantiles = (scenario.unit === 'event' && load.eventDelay) || load.latency
  return {
    scenario,
    subject: subject.name,
    ...(cpu && { cpu: cpu.used / 1000 / units, waited: cpu.waited / (cpu.used + cpu.waited) }),
    ...(!scenario.rate && { perSecond: units / load.seconds }),
    p50: quantiles.p50,
    p99: quantiles.p99,
    firstByte: load.firstByte.p50,
  }
}

async function runLoad({ scenario, subject, key }: Case, { processes, scratch, cores }: Place): Promise<LoadResult> {
  const request = join(scratch, 'request')
  writeFileSync(request, httpRequest({ ...scenario, ...subject.asks(scenario.api), port: subject.port, key }))

  const { connections, seconds, rate } = scenario
  const name = `${scenario.name} through ${subject.name}`
  const options = {
    '--port': subject.port,
    '--request': request,
    '--connections': connections,
    '--seconds': seconds,
    '--rate': rate ?? 0,
  }
  const args = Object.entries(options).flat().map(String)
  const output = await processes.run({ name, program: join(TOOLS, '.build/loadgen'), args, core: cores?.tools })
  return JSON.parse(output) as LoadResult
}

function rotate<Item>(items: readonly Item[], by: number): Item[] {
  const start = by % items.length
  return [...items.slice(start), ...items.slice(0, start)]
}
