/** `npm run bench`: measures the gateway between a load generator and a mock upstream, beside a bare relay. docs/performance.md explains it. */
import { mkdtempDisposable, readFile } from 'node:fs/promises'
import { release, tmpdir } from 'node:os'
import { join } from 'node:path'
import { chooseCores } from './cores.ts'
import { type IdleCost, measureIdleStreams } from './idle-streams.ts'
import { type Failure, measure } from './measure.ts'
import { largestMemoryOf, memoryOf } from './memory.ts'
import { type Options, readOptions, USAGE } from './options.ts'
import type { Peer } from './peers.ts'
import type { Place } from './place.ts'
import { missingPrerequisite, type Tool } from './prerequisites.ts'
import { createProcesses } from './processes.ts'
import { differencesOf } from './regressions.ts'
import {
  differenceTable,
  failureTable,
  garbageTable,
  idleTable,
  resultTable,
  subjectTable,
  turnTable,
  verdictTable,
  warnOfBusyMachine,
  warnOfNoise,
} from './report.ts'
import { measureRest } from './rest.ts'
import { startPeers } from './start-peers.ts'
import {
  GATEWAY_SWITCHED_ON,
  NGINX_SWITCHED_ON,
  RELAY_SWITCHED_ON,
  type Subject,
  startSubjects,
  startUpstream,
  TOOLS,
} from './subjects.ts'
import { comparisonsOf, judge, judgeGarbage, judgeIdle, judgeMemory, judgeRest, judgeTurns } from './targets.ts'
import { measureTurns } from './turns.ts'
import { startVariants } from './variants.ts'
import { startVersions } from './versions.ts'

/**
 * Exit codes: every target was met, or no scenario costs more than before; one was missed or costs more, or nothing could be measured;
 * the machine or the command line is not fit.
 */
const [MET, MISSED, UNFIT] = [0, 1, 2]

const progress = (message: string) => void process.stderr.write(`${message}\n`)

async function main(): Promise<number> {
  let options: Options | undefined
  try {
    options = readOptions(process.argv.slice(2))
  } catch (error) {
    return complain(`${(error as Error).message}\n${USAGE}`, UNFIT)
  }
  if (options === undefined) {
    print([USAGE])
    return MET
  }
  const unfit = missingPrerequisite(needsOf(options))
  if (unfit) return complain(unfit, UNFIT)
  try {
    return await bench(options)
  } catch (error) {
    return complain(`The benchmark stopped: ${(error as Error).message}`, MISSED)
  }
}

const needsOf = ({ against, variants }: Options): readonly Tool[] =>
  against === undefined ? ['nginx', ...variants.flatMap(({ needs }) => needs ?? [])] : ['git', 'tar']

async function bench(options: Options): Promise<number> {
  await using scratch = await mkdtempDisposable(join(tmpdir(), 'umg-bench-'))
  await using processes = createProcesses()
  const place = { processes, scratch: scratch.path, cores: chooseCores() }

  await processes.run({ name: 'make', program: 'make', args: ['--silent', '-C', TOOLS] })
  const { against } = options
  // Awaited here: the children end with this function.
  return await (against === undefined ? judgeGateway(options, place) : compareVersions(options, against, place))
}

/** Holds the gateway against its targets. */
async function judgeGateway(options: Options, place: Place): Promise<number> {
  const subjects = await startSubjects(place)
  const peers = await startPeers(options.peers, place, subjects, progress)
  const variants = await startVariants(options.variants, place, subjects.direct.port)
  const all = [...subjects.all, ...variants, ...peers.subjects]
  // First: what a load leaves behind would hold the memory of idle streams.
  const idle = options.idleStreams ? await measureIdle(all, subjects.key, place) : []
  const rest = options.atRest ? await measureRest(place, subjects.direct.port, progress) : undefined
  const turns = options.turns ? await measureTurns(place, subjects.direct.port, progress) : []
  const { measurements, garbage, failures } = await measure({ ...options, countsGarbage: true, progress }, place, {
    ...subjects,
    all,
  })

  const gateways = all.filter(({ name }) => name === 'gateway' || name === 'two-workers')
  const verdicts = [
    ...judge(measurements, comparisonsOf(names(all), names(options.scenarios))),
    ...judgeGarbage(garbage),
    ...judgeIdle(idle),
    ...(rest === undefined ? [] : [judgeRest(rest)]),
    ...judgeTurns(turns),
    ...(measurements.length > 0 ? gateways.map(({ name, pid }) => judgeMemory(name, largestMemoryOf(pid!))) : []),
  ]
  print([
    await describeConditions(options, place),
    measurements.length > 0 && resultTable(measurements),
    garbage.length > 0 && garbageTable(garbage),
    idle.length > 0 && idleTable(idle),
    turns.length > 0 && turnTable(turns),
    options.peers.length > 0 && describeSubjects(options.peers, all, [...peers.failures, ...failures]),
    verdicts.length > 0 && verdictTable(verdicts),
    warnOfBusyMachine(measurements),
  ])
  return verdicts.every(({ met }) => met) ? MET : MISSED
}

/** Holds this checkout against an older version of itself. */
async function compareVersions(options: Options, commit: string, place: Place): Promise<number> {
  const upstream = await startUpstream(place)
  progress(`checking out and starting ${commit}`)
  const versions = await startVersions(commit, place, upstream)
  const { measurements, failures } = await measure({ ...options, countsGarbage: false, progress }, place, versions.subjects)

  const differences = differencesOf(measurements, options.scenarios)
  print([
    `${await describeMachine()}; ${describeCores(place, 'gateways')}.\n${describeRounds(options)}`,
    `Old: ${versions.old}. New: ${versions.new}.`,
    differenceTable(differences),
    failures.length > 0 && failureTable(failures),
    warnOfNoise(differences),
  ])
  return differences.every(({ met }) => met) ? MET : MISSED
}

/** One subject after the other: their streams would keep each other's core from resting. */
async function measureIdle(subjects: readonly Subject[], key: string, place: Place): Promise<readonly IdleCost[]> {
  const costs: IdleCost[] = []
  for (const { pid, peer, ...subject } of subjects) {
    if (pid === undefined || peer !== undefined) continue
    progress(`idle streams: ${subject.name}`)
    costs.push(await measureIdleStreams({ ...subject, pid }, key, place))
  }
  return costs
}

function describeSubjects(peers: readonly Peer[], started: readonly Subject[], failures: readonly Failure[]): string {
  const switchedOn = {
    nginx: NGINX_SWITCHED_ON,
    relay: RELAY_SWITCHED_ON,
    gateway: GATEWAY_SWITCHED_ON,
    ...Object.fromEntries(peers.map(switchedOnBy)),
  }
  const described = Object.entries(switchedOn).map(([subject, work]) => {
    const pid = started.find(({ name }) => name === subject)?.pid
    return { subject, switchedOn: work, ...(pid && { memory: memoryOf(pid) }) }
  })
  return subjectTable(described, failures)
}

const switchedOnBy = ({ name, source, switchedOn }: Peer): [string, string] => {
  const packages = source.registry === 'none' ? '' : ` (${source.packages.join(', ')})`
  return [name, `${switchedOn}${packages}`]
}

async function describeConditions(options: Options, place: Place): Promise<string> {
  const nginx = await place.processes.run({ name: 'nginx -v', program: 'sh', args: ['-c', 'nginx -v 2>&1'] })
  const where = describeCores(place, options.peers.length > 0 ? 'gateway, relay, nginx and peers' : 'gateway, relay and nginx')
  return `${await describeMachine()}, ${nginx.trim().replace('nginx version: ', '')}; ${where}.\n${describeRounds(options)}`
}

async function describeMachine(): Promise<string> {
  const processor = /^model name\s*:\s*(.+)$/m.exec(await readFile('/proc/cpuinfo', 'latin1'))?.[1] ?? process.arch
  return `${processor}, Linux ${release()}; Node ${process.versions.node}`
}

const describeCores = ({ cores }: Place, proxies: string): string =>
  cores
    ? `${proxies} on core ${cores.proxy}, tools on core ${cores.tools}`
    : 'one core for all: expect lower rates and longer times'

const describeRounds = ({ rounds }: Options): string => `Rounds: ${rounds}; medians. CPU and times in µs.`

const names = (all: readonly { readonly name: string }[]): readonly string[] => all.map(({ name }) => name)

function print(blocks: readonly (string | false | undefined)[]): void {
  process.stdout.write(`${blocks.filter(Boolean).join('\n\n')}\n`)
}

function complain(message: string, code: number): number {
  process.stderr.write(`${message}\n`)
  return code
}

process.exitCode = await main()
