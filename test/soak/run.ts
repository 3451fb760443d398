/** `npm run soak`: runs the endurance scenarios and reports which limits were met. docs/soak.md describes them. */
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { createProcesses } from '../../bench/processes.ts'
import { startFixture } from './fixture.ts'
import { findingTable, type ScenarioReport } from './report.ts'
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
import { leak } from './scenarios/leak.ts'
import { locked } from './scenarios/locked.ts'
import { names } from './scenarios/names.ts'
import { queries } from './scenarios/queries.ts'
import { quota } from './scenarios/quota.ts'
import { reload } from './scenarios/reload.ts'
import { slowReaders } from './scenarios/slow-readers.ts'
import { sockets } from './scenarios/sockets.ts'

const SCENARIOS: readonly Scenario[] = [
  aborts,
  slowReaders,
  leak,
  eventLoop,
  flood,
  reload,
  amplification,
  failingTarget,
  bulkhead,
  names,
  sockets,
  queries,
  locked,
  crash,
  hostilePlugin,
  database,
  quota,
  authorityAway,
]

const USAGE = `usage: npm run soak -- [--only ${SCENARIOS.map(({ name }) => name).join(',')}]`

/** Exit codes: all limits met; a limit exceeded or a scenario failed; unsuitable machine or invalid command line. */
const [MET, EXCEEDED, UNFIT] = [0, 1, 2]

async function main(): Promise<number> {
  if (process.platform !== 'linux') return complain('The soak reads /proc: run it on Linux or in a container.', UNFIT)
  let scenarios: readonly Scenario[]
  try {
    scenarios = chosenScenarios(process.argv.slice(2))
  } catch (error) {
    return complain(`${(error as Error).message}\n${USAGE}`, UNFIT)
  }
  const interruption = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => interruption.abort())
  const reports: ScenarioReport[] = []
  for (const scenario of scenarios) {
    if (!interruption.signal.aborted) reports.push(await runScenario(scenario, interruption.signal))
  }
  process.stdout.write(`${findingTable(reports)}\n`)
  const met = !interruption.signal.aborted && reports.every(({ findings }) => findings.every(({ met }) => met))
  return met ? MET : EXCEEDED
}

function chosenScenarios(args: string[]): readonly Scenario[] {
  const { values } = parseArgs({ args, options: { only: { type: 'string' } } })
  const names = values.only?.split(',') ?? SCENARIOS.map(({ name }) => name)
  return names.map((name) => {
    const scenario = SCENARIOS.find((one) => one.name === name)
    if (!scenario) throw new Error(`There is no scenario "${name}".`)
    return scenario
  })
}

/** Runs a scenario. An error or a timeout becomes its only finding. */
async function runScenario(scenario: Scenario, signal: AbortSignal): Promise<ScenarioReport> {
  const { name } = scenario
  const progress = (message: string) => process.stderr.write(`${name}: ${message}\n`)
  await using scratch = await mkdtempDisposable(join(tmpdir(), 'umg-soak-'))
  await using processes = createProcesses()
  try {
    const { table, heapMb, descriptors } = scenario
    await using fixture = await startFixture({ processes, scratch: scratch.path, table, heapMb, descriptors })
    return { name, findings: await Promise.race([scenario.run(fixture, progress), timeOut(scenario, signal)]) }
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
