import { setTimeout as delay } from 'node:timers/promises'
import { createSecret } from '../../../core/keys/format.ts'
import { digestOf } from '../../../core/text/ids.ts'
import { type Askers, keepAsking } from '../asking.ts'
import type { SoakFixture } from '../fixture.ts'
import { type Seen, serveLimited } from '../limited-upstream.ts'
import { namespaceOf } from '../plain-routes.ts'
import { startPostgres } from '../postgres.ts'
import { type ProcessGateway, serveProcesses } from '../process-gateway.ts'
import { type Redis, startRedis } from '../redis.ts'
import { atLeast, atMost, type Finding, type Scenario } from '../scenario.ts'
import { isThere, stopProcess } from '../stop-process.ts'

const PROXIES = 2
/** Processes are killed so often in each of two faults: control, and the proxies in turn. */
const KILLS = Number(process.env.SOAK_KILLS ?? 20)
/** Longer than the supervisor waits to take a process for one that ends at once. */
const BETWEEN_KILLS_MS = 5_000
const SILENT_MS = [3_000, 10_000, 20_000] as const
/** Clients of each limit, and the pause between their calls. */
const CLIENTS = 3
const PAUSE_MS = 50
/** Until something of a limit is spent and told, and after a fault. */
const AROUND_MS = 3_000
/** What a limit allows, in US dollars and calls, and the part of the calls that processes may spend that know nothing. */
const [USD, CALLS, UNKNOWING] = [10, 50, 0.1]
/** The most tokens of an answer. A token costs a tenth of a cent. */
const ANSWER_TOKENS = 500
const USD_PER_TOKEN = 0.001
/** The tokens of each prompt, which cost nothing. */
const PROMPT_TOKENS = 10

/** What happens while limits are spent. */
interface Fault {
  readonly name: string
  /** When something of the limits was spent. */
  prepare?(): Promise<void>
  happen(gateway: ProcessGateway): Promise<void>
}

const silences: readonly Fault[] = SILENT_MS.map((ms) => ({
  name: `control-hangs-${ms / 1000}-s`,
  async happen({ pids }) {
    const control = pids().get('control')!
    process.kill(control, 'SIGSTOP')
    await delay(ms)
    // The supervisor ends a process that hangs for ten seconds.
    if (isThere(control)) process.kill(control, 'SIGCONT')
  },
}))

const killed = (name: string, places: readonly string[]): Fault => ({
  name: `${name}-killed-${KILLS}-times`,
  async happen({ pids }) {
    const ended = new Set<number>()
    for (let kill = 0; kill < KILLS; kill++) {
      const running = (): number => pids().get(places[kill % places.length]!)!
      // On a slow machine the successor of the last one starts later.
      while (ended.has(running())) await delay(20)
      // The supervisor makes the successor of a process that ends at once wait, up to half a minute.
      await delay(BETWEEN_KILLS_MS)
      const pid = running()
      process.kill(pid, 'SIGKILL')
      // Asked again, it may be the successor already.
      ended.add(pid)
    }
  },
})

const OF_PROCESSES: readonly Fault[] = [
  ...silences,
  killed('control', ['control']),
  killed(
    'proxies',
    Array.from({ length: PROXIES }, (_, index) => `proxy-${index + 1}`),
  ),
]

const faultsOf = (redis: Redis): readonly Fault[] => [
  {
    name: 'redis-hangs',
    async happen() {
      redis.pause()
      await delay(SILENT_MS[1])
      redis.resume()
    },
  },
  { name: 'redis-killed', happen: () => restart(redis, 'all') },
  { name: 'redis-emptied', happen: () => restart(redis, 'nothing') },
  { name: 'redis-restored', prepare: () => redis.copy(), happen: () => restart(redis, 'the copy') },
  { name: 'redis-spoiled', happen: () => redis.spoil() },
]

async function restart(redis: Redis, known: Parameters<Redis['start']>[0]): Promise<void> {
  await redis.stop()
  await redis.start(known)
}

/** The names of all faults: each has a budget and a limit of calls of its own. */
const NAMES = [...OF_PROCESSES, ...faultsOf({} as Redis)].map(({ name }) => name)
const LIMITS = NAMES.flatMap((name) => [`usd-${name}`, `calls-${name}`])
const SECRETS = new Map(LIMITS.map((name) => [name, createSecret('live')]))

const keyLine = (name: string): string => {
  const limit = name.startsWith('usd-') ? `class: many, budget: ${USD} USD/month` : 'class: few'
  return `  - { name: ${name}, hash: "sha256:${digestOf(SECRETS.get(name)!)}", kind: live, models: ["*"], ${limit} }\n`
}

const table = `version: 1
chain:
  - plugin: auth
  - plugin: rate-tagging
    config: { classes: { many: { requests: 100M/min }, few: { requests: ${CALLS}/d } }, default: many }
namespaces:
${LIMITS.map((name) => namespaceOf(name)).join('')}prices:
  models:
${LIMITS.map((name) => `    ${name}/m: { input: 0, output: ${USD_PER_TOKEN * 1_000_000} }\n`).join('')}keys:
${LIMITS.map(keyLine).join('')}`

/** Processes and Redis hang, end and forget while limits are spent: what is spent stays spent. */
export const spentLimits: Scenario = {
  name: 'spent-limits',
  notWithWorkers: 'it starts gateways of several processes in any case',
  seconds: 1800,
  table,
  async run(fixture, progress) {
    const postgres = await startPostgres(fixture.workspace)
    const redis = await startRedis(fixture.workspace)
    const authorities: readonly Authority[] = [
      { name: 'SQLite', flags: [], faults: OF_PROCESSES },
      { name: 'PostgreSQL', flags: ['--database', postgres.url], faults: OF_PROCESSES },
      { name: 'Redis', flags: ['--redis', redis.url], faults: [...OF_PROCESSES, ...faultsOf(redis)] },
    ]
    const findings: Finding[] = []
    for (const authority of authorities) findings.push(...(await checkAuthority(fixture, authority, progress)))
    return findings
  },
}

/** Where limits are counted, and what happens there. */
interface Authority {
  readonly name: string
  readonly flags: readonly string[]
  readonly faults: readonly Fault[]
}

async function checkAuthority(
  fixture: SoakFixture,
  { name, flags, faults }: Authority,
  progress: (message: string) => void,
): Promise<readonly Finding[]> {
  const seen = serveLimited(fixture.open)
  const gateway = await serveProcesses(fixture, { name, proxies: PROXIES, flags })
  const asking = new Map<string, Askers>()
  for (const { name: fault, prepare, happen } of faults) {
    progress(`${name}: ${fault}`)
    for (const limit of [`usd-${fault}`, `calls-${fault}`]) asking.set(limit, ask(gateway, limit))
    await delay(AROUND_MS / 10)
    await prepare?.()
    await delay(AROUND_MS / 10)
    await happen(gateway)
    await delay(AROUND_MS)
  }
  await Promise.all(Array.from(asking.values(), (askers) => askers.stop()))
  await stopProcess(gateway.service.pid, 'SIGINT')
  return faults.flatMap(({ name: fault }) => checkSpent(`${name}: ${fault}:`, fault, asking, seen))
}

/** Clients keep asking for a limit that is spent, also in the faults of others. */
function ask({ url }: ProcessGateway, limit: string): Askers {
  const body = { model: `${limit}/m`, max_tokens: ANSWER_TOKENS, messages: [{ role: 'user', content: 'Are you there?' }] }
  const urls = Array.from({ length: CLIENTS }, () => url)
  const pauses = { pauseMs: PAUSE_MS, servedPauseMs: PAUSE_MS }
  return keepAsking({ urls, key: SECRETS.get(limit)!, body: JSON.stringify(body), ...pauses })
}

function checkSpent(
  what: string,
  fault: string,
  asking: ReadonlyMap<string, Askers>,
  seen: (namespace: string) => Seen,
): readonly Finding[] {
  // A call breaks off with the process that serves it: nobody can tell its cost then.
  const brokenOf = (limit: string): number => asking.get(limit)!.answers.filter(({ status }) => status === 0).length
  const [usd, calls] = [`usd-${fault}`, `calls-${fault}`]
  const tokens = seen(usd).arrivals.reduce((sum, arrival) => sum + arrival.tokens - PROMPT_TOKENS, 0)
  const count = seen(calls).arrivals.length
  return [
    atMost(USD + brokenOf(usd) * ANSWER_TOKENS * USD_PER_TOKEN, 'USD', `${what} spent`, tokens * USD_PER_TOKEN),
    atLeast(0.01, 'USD', `${what} spent`, tokens * USD_PER_TOKEN),
    atMost(CALLS * (1 + UNKNOWING) + brokenOf(calls), 'calls', `${what} served`, count),
    atLeast(1, 'calls', `${what} served`, count),
  ]
}
