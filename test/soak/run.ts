/** `npm run soak`: runs the endurance scenarios and reports which limits were met. docs/soak.md describes them. */
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { createProcesses } from '../../bench/processes.ts'
import { buildRuntime } from '../../deploy/package/runtime.ts'
import { startFixture, type Workspace } from './fixture.ts'
import { reportOf, type ScenarioReport } from './report.ts'
import type { Scenario } from './scenario.ts'
import { aborts } from './scenarios/aborts.ts'
import { amplification } from './scenarios/amplification.ts'
import { authorityAway } from './scenarios/authority-away.ts'
import { bulkhead } from './scenarios/bulkhead.ts'
import { crash } from './scenarios/crash.ts'
import { database } from './scenarios/database.ts'
import { eventLoop } from './scenarios/event-loop.ts'
import { failingTarget } from './scenarios/failing-target.ts'
import { flood } from './scenarios/flood.ts'
import { hostilePlugin } from './scenarios/hostile-plugin.ts'
import { hostileReplies } from './scenarios/hostile-replies.ts'
import { largeTables } from './scenarios/large-tables.ts'
import { leak } from './scenarios/leak.ts'
import { ledger } from './scenarios/ledger.ts'
import { locked } from './scenarios/locked.ts'
import { names } from './scenarios/names.ts'
import { queries } from './scenarios/queries.ts'
import { quota } from './scenarios/quota.ts'
import { reload } from './scenarios/reload.ts'
import { restedKeys } from './scenarios/rested-keys.ts'
import { returnedMemory } from './scenarios/returned-memory.ts'
import { slowReaders } from './scenarios/slow-readers.ts'
import { sockets } from './scenarios/sockets.ts'
import { spentLimits } from './scenarios/spent-limits.ts'
import { websockets } from './scenarios/websockets.ts'

const SCENARIOS: readonly Scenario[] = [
  aborts,
  slowReaders,
  leak,
  returnedMemory,
  eventLoop,
  largeTables,
  flood,
  hostileReplies,
  reload,
  amplification,
  failingTarget,
  bulkhead,
  names,
  sockets,
  queries,
  locked,
  crash,
  ledger,
  hostilePlugin,
  database,
  quota,
  authorityAway,
  spentLimits,
  restedKeys,
  websockets,
]

const USAGE = `usage: npm run soak -- [--workers 1] [--only ${SCENARIOS.map(({ name }) => name).join(',')}]`

/** Exit codes: all limits met; a limit exceeded or a scenario failed; unsuitable machine or invalid command line. */
const [MET, EXCEEDED, UNFIT] = [0, 1, 2]

async function main(): Promise<number> {
  if (process.platform !== 'linux') return complain('The soak reads /proc: run it on Linux or in a container.', UNFIT)
  let options: SoakOptions
  try {
    options = optionsOf(process.argv.slice(2))
  } catch (error) {
    return complain(`${(error as Error).message}\n${USAGE}`, UNFIT)
  }
  const interruption = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => interruption.abort())
  const { scenarios, workers } = options
  const left = scenarios.filter(({ notWithWorkers }) => workers > 1 && notWithWorkers !== undefined)
  await using built = await mkdtempDisposable(join(tmpdir(), 'umg-soak-package-'))
  process.stderr.write('building the package\n')
  await buildRuntime(built.path)
  const umg = join(built.path, 'core/umg.mjs')
  const reports: ScenarioReport[] = []
  for (const scenario of scenarios) {
    if (!left.includes(scenario) && !interruption.signal.aborted)
      reports.push(await runScenario(scenario, { umg, workers, signal: interruption.signal }))
  }
  process.stdout.write(`${reportOf(workers, reports, left)}\n`)
  const met = !interruption.signal.aborted && reports.every(({ findings }) => findings.every(({ met }) => met))
  return met ? MET : EXCEEDED
}

/** The command line. */
interface SoakOptions {
  readonly scenarios: readonly Scenario[]
  /** Processes of each gateway that serve calls. */
  readonly workers: number
}

function optionsOf(args: string[]): SoakOptions {
  const { values } = parseArgs({ args, options: { only: { type: 'string' }, workers: { type: 'string', default: '1' } } })
  if (!/^[1-9]\d?$/.test(values.workers)) throw new Error(`--workers is a number from 1 to 99, not "${values.workers}".`)
  const names = values.only?.split(',') ?? SCENARIOS.map(({ name }) => name)
  const scenarios = names.map((name) => {
    const scenario = SCENARIOS.find((one) => one.name === name)
    if (!scenario) throw new Error(`There is no scenario "${name}".`)
    return scenario
  })
  return { scenarios, workers: Number(values.workers) }
}

/** How a scenario runs. */
interface Setting extends Pick<Workspace, 'umg' | 'workers'> {
  readonly signal: AbortSignal
}

/** Runs a scenario. An error or a timeout becomes its only finding. */
async function runScenario(scenario: Scenario, { umg, workers, signal }: Setting): Promise<ScenarioReport> {
  const { name } = scenario
  const progress = (message: string) => process.stderr.write(`${name}: ${message}\n`)
  await using scratch = await mkdtempDisposable(join(tmpdir(), 'umg-soak-'))
  await using processes = createProcesses()
  try {
    const { table, heapMb, descriptors } = scenario
    await using fixture = await startFixture({ processes, scratch: scratch.path, umg, workers, table, heapMb, descriptors })
    const findings = await Promise.race([scenario.run(fixture, progress), timeOut(scenario, signal)])
    const late = await fixture.gateway.metric('umg_shed_total', 'reason="event_loop"').catch(() => 0)
    if (late > 0) progress(`${late} calls were refused because an event loop was late: is the machine busy?`)
    return { name, findings }
  } catch (error) {
    return { name, findings: [{ what: 'ran to its end', measured: reasonOf(error as Error), allowed: '', met: false }] }
  }
}

async function timeOut({ seconds }: Scenario, signal: AbortSignal): Promise<never> {
  await delay(seconds * 1000, undefined, { ref: false, signal })
  throw new Error(`timed out after ${seconds} seconds`)
}

/** An error of `fetch` has its reason in its cause only. */
const reasonOf = ({ message, cause }: Error): string => (cause instanceof Error ? `${message}: ${cause.message}` : message)

function complain(message: string, code: number): number {
  process.stderr.write(`${message}\n`)
  return code
}

// Ends what a timed-out scenario is still doing.
process.exit(await main())
