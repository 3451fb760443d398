/** `npm run soak`: tries what only time and numbers can try, and says which promises held. docs/soak.md explains it. */
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { createProcesses } from '../../bench/processes.ts'
import type { Line } from './line.ts'
import { aborts } from './lines/aborts.ts'
import { amplification } from './lines/amplification.ts'
import { bulkhead } from './lines/bulkhead.ts'
import { database } from './lines/database.ts'
import { eventLoop } from './lines/event-loop.ts'
import { leak } from './lines/leak.ts'
import { lookUp } from './lines/look-up.ts'
import { reload } from './lines/reload.ts'
import { sickTarget } from './lines/sick-target.ts'
import { slowReaders } from './lines/slow-readers.ts'
import { findingTable, type LineReport } from './report.ts'
import { startStage } from './stage.ts'

const LINES: readonly Line[] = [
  aborts,
  slowReaders,
  leak,
  eventLoop,
  reload,
  amplification,
  sickTarget,
  bulkhead,
  lookUp,
  database,
]

const USAGE = `usage: npm run soak -- [--only ${LINES.map(({ name }) => name).join(',')}]`

/** Exit codes: every promise was kept; one was broken or could not be tried; the machine or the command line is not fit. */
const [KEPT, BROKEN, UNFIT] = [0, 1, 2]

async function main(): Promise<number> {
  if (process.platform !== 'linux')
    return complain('The soak reads /proc and needs Linux: run it there, or in a container.', UNFIT)
  let lines: readonly Line[]
  try {
    lines = chosenLines(process.argv.slice(2))
  } catch (error) {
    return complain(`${(error as Error).message}\n${USAGE}`, UNFIT)
  }
  const interruption = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => interruption.abort())
  const reports: LineReport[] = []
  for (const line of lines) {
    if (!interruption.signal.aborted) reports.push(await tryLine(line, interruption.signal))
  }
  process.stdout.write(`${findingTable(reports)}\n`)
  const kept = !interruption.signal.aborted && reports.every(({ findings }) => findings.every(({ met }) => met))
  return kept ? KEPT : BROKEN
}

function chosenLines(args: string[]): readonly Line[] {
  const { values } = parseArgs({ args, options: { only: { type: 'string' } } })
  const names = values.only?.split(',') ?? LINES.map(({ name }) => name)
  return names.map((name) => {
    const line = LINES.find((one) => one.name === name)
    if (!line) throw new Error(`There is no line "${name}".`)
    return line
  })
}

/** A line that throws, or takes longer than it may, has found one thing: that. */
async function tryLine(line: Line, signal: AbortSignal): Promise<LineReport> {
  const { name } = line
  const progress = (message: string) => process.stderr.write(`${name}: ${message}\n`)
  await using scratch = await mkdtempDisposable(join(tmpdir(), 'umg-soak-'))
  await using processes = createProcesses()
  try {
    await using stage = await startStage({ processes, scratch: scratch.path, table: line.table })
    return { name, findings: await Promise.race([line.run(stage, progress), end(line, signal)]) }
  } catch (error) {
    return { name, findings: [{ what: 'could be tried', measured: reasonOf(error as Error), allowed: '', met: false }] }
  }
}

async function end({ seconds }: Line, signal: AbortSignal): Promise<never> {
  await delay(seconds * 1000, undefined, { ref: false, signal })
  throw new Error(`it took longer than ${seconds} seconds`)
}

/** What `fetch` throws tells of itself only in its cause. */
const reasonOf = ({ message, cause }: Error): string => (cause instanceof Error ? `${message}: ${cause.message}` : message)

function complain(message: string, code: number): number {
  process.stderr.write(`${message}\n`)
  return code
}

process.exitCode = await main()
// Whatever a line that did not end in time still does ends here, once the report is out.
process.stdout.write('', () => process.exit())
