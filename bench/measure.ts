import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { cpuBetween, cpuSnapshot } from './cpu.ts'
import type { Place } from './place.ts'
import { replyText } from './replies.ts'
import { type ChatRequest, writeRequest } from './requests.ts'
import type { Scenario } from './scenarios.ts'
import { type Subject, type Subjects, TOOLS } from './subjects.ts'

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
  /** Absent for events in which a peer does not pass on the upstream's time. */
  readonly p50?: number
  readonly p99?: number
  readonly firstByte: number
}

/** What a unit of a scenario allocates on the heap of a process of Node, without what it has collected again being subtracted. */
export interface Garbage {
  readonly scenario: Scenario
  readonly subject: Subject['name']
  readonly kibibytes: number
}

/** Why something was not measured. */
export interface Failure {
  readonly subject: Subject['name']
  /** Absent: none was. */
  readonly scenario?: Scenario
  readonly reason: string
}

/** What was measured, and what was not. */
export interface Results {
  readonly measurements: readonly Measurement[]
  /** Of the subjects that can tell. */
  readonly garbage: readonly Garbage[]
  /** Of peers and versions: any other failure ends the run. */
  readonly failures: readonly Failure[]
}

/** What is measured. */
export interface Plan {
  readonly scenarios: readonly Scenario[]
  readonly rounds: number
  /** Whether allocations are counted after the last round. */
  readonly countsGarbage: boolean
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

/** Units in which allocations are counted: with few, what a process allocates by itself would count for them. */
const LEAST_COUNTED = 5_000
/** A machine may be too slow for them. */
const MOST_PASSES = 10

/** Measures every scenario through every subject, in rounds: what slows the machine for a while then slows all subjects alike. */
export async function measure(plan: Plan, place: Place, subjects: Subjects): Promise<Results> {
  const { scenarios, rounds, progress } = plan
  const failures: Failure[] = []
  const failed = (scenario: Scenario, name: string) => failures.some((one) => one.scenario === scenario && one.subject === name)

  /** Does `work` unless it has failed before; a peer or version runs only meanwhile. */
  async function attempt(target: Case, work: () => Promise<void>): Promise<void> {
    const { scenario, subject } = target
    if (failed(scenario, subject.name)) return
    if (!subject.peer) return work()
    subject.peer.resume()
    try {
      await delay(SETTLE_MS)
      await work()
    } catch (error) {
      place.processes.stopping.throwIfAborted()
      const { message: reason } = error as Error
      progress(`${subject.name} failed in ${scenario.name}: ${reason}`)
      failures.push({ scenario, subject: subject.name, reason })
    } finally {
      subject.peer.pause()
    }
  }

  const { direct, all, key } = subjects
  for (const scenario of scenarios) {
    progress(`warming up: ${scenario.name}`)
    const expected = await replyText(requestOf({ scenario, subject: direct, key }))
    for (const subject of all) {
      if (subject.peer && subject.asks(scenario.api, scenario.client).speaks !== scenario.client) {
        failures.push({ scenario, subject: subject.name, reason: 'it is asked by chat completions only' })
        continue
      }
      const target = { scenario, subject, key: subject.key ?? key }
      await attempt(target, async () => {
        checkReply(await replyText(requestOf(target)), expected, subject.name)
        await warmUp(() => measureOnce(target, place))
      })
    }
  }
  const measurements: Measurement[] = []
  for (let round = 0; round < rounds; round++) {
    for (const scenario of scenarios) {
      progress(`round ${round + 1} of ${rounds}: ${scenario.name}`)
      for (const subject of rotate(all, round)) {
        const target = { scenario, subject, key: subject.key ?? key }
        await attempt(target, async () => void measurements.push(await measureOnce(target, place)))
      }
    }
  }
  const garbage: Garbage[] = []
  for (const scenario of plan.countsGarbage ? scenarios : []) {
    progress(`allocations: ${scenario.name}`)
    for (const subject of all) {
      const { allocated } = subject
      if (allocated === undefined) continue
      const target = { scenario, subject, key: subject.key ?? key }
      await attempt(target, async () => void garbage.push(await countGarbage(target, allocated, place)))
    }
  }
  // Errors are cheap: what failed once would improve the figures.
  return { measurements: measurements.filter(({ scenario, subject }) => !failed(scenario, subject)), garbage, failures }
}

/** Throws unless a reply has the text that the upstream gave: a wrong reply may be a fast one. */
function checkReply(text: string, expected: string, subject: string): void {
  if (expected === '') throw new Error('the upstream gave no text')
  if (text === expected) return
  throw new Error(`${subject} gave another text than the upstream: ${text.length} characters of ${expected.length}`)
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

  const units = unitsOf(scenario, load)
  const quantiles = scenario.unit === 'event' ? load.eventDelay : load.latency
  return {
    scenario,
    subject: subject.name,
    ...(cpu && { cpu: cpu.used / 1000 / units, waited: cpu.waited / (cpu.used + cpu.waited) }),
    ...(!scenario.rate && { perSecond: units / load.seconds }),
    ...quantiles,
    firstByte: load.firstByte.p50,
  }
}

const unitsOf = ({ unit, stream }: Scenario, { completed }: LoadResult): number =>
  completed * (unit === 'event' ? stream!.events : 1)

/** In a run of its own, because counting costs time. */
async function countGarbage(target: Case, allocated: () => Promise<number>, place: Place): Promise<Garbage> {
  const { scenario, subject } = target
  await allocated()
  let units = 0
  for (let pass = 0; pass < MOST_PASSES && units < LEAST_COUNTED; pass++) units += unitsOf(scenario, await runLoad(target, place))
  return { scenario, subject: subject.name, kibibytes: (await allocated()) / 1024 / units }
}

function requestOf({ scenario, subject, key }: Case): ChatRequest {
  const { messages, stream, api, client } = scenario
  return { messages, ...(stream && { stream }), ...subject.asks(api, client), port: subject.port, key }
}

async function runLoad(target: Case, { processes, scratch, cores }: Place): Promise<LoadResult> {
  const request = join(scratch, 'request')
  writeRequest(request, requestOf(target))

  const { scenario, subject } = target
  const { connections, seconds, rate } = scenario
  const name = `${scenario.name} through ${subject.name}`
  const options = {
    '--port': subject.port,
    '--request': request,
    '--connections': connections * (subject.workers ?? 1),
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
