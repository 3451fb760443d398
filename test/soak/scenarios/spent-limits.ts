import { setTimeout as delay } from 'node:timers/promises'
import { createSecret } from '../../../core/keys/format.ts'
import { digestOf } from '../../../core/text/ids.ts'
import { type Askers, keepAsking } from '../asking.ts'
import type { Answer } from '../client.ts'
import type { SoakFixture } from '../fixture.ts'
import { type Seen, serveLimited } from '../limited-upstream.ts'
import { namespaceOf } from '../plain-routes.ts'
import { startPostgres } from '../postgres.ts'
import { type ProcessGateway, type SingleGateway, serveProcesses, serveSingle } from '../process-gateway.ts'
import { type Redis, startRedis } from '../redis.ts'
import { atLeast, atMost, type Finding, type Scenario } from '../scenario.ts'
import { isThere, stopProcess } from '../stop-process.ts'

/** The processes of the gateways that serve calls. One is the whole gateway; beside two there are control and a supervisor. */
const WORKERS = [1, 2] as const
/** Processes are killed so often in each fault: control, and the proxies in turn; the only one. */
const KILLS = Number(process.env.SOAK_KILLS ?? 20)
/** Longer than the supervisor waits to take a process for one that ends at once. */
const BETWEEN_KILLS_MS = 5_000
const SILENT_MS = [3_000, 10_000, 20_000] as const
/** Clients of each limit, and the pause between their calls. */
const CLIENTS = 3
const PAUSE_MS = 50
/** Until something of a limit is spent and told, and after a fault. */
const AROUND_MS = 3_000
/** What a limit allows, in US dollars and calls, and the calls more that processes may make that know nothing: a tenth. */
const [USD, CALLS, UNKNOWING] = [10, 50, 5]
/** The most tokens of an answer. A token costs a tenth of a cent. */
const ANSWER_TOKENS = 500
const USD_PER_TOKEN = 0.001
/** The tokens of each prompt, which cost nothing. */
const PROMPT_TOKENS = 10

/** What happens while limits are spent, to a gateway of one or of several processes. */
interface Fault<Gateway = ProcessGateway> {
  readonly name: string
  /** When something of the limits was spent. */
  prepare?(): Promise<void>
  happen(gateway: Gateway): Promise<void>
}

/** `place`: of the process that knows what is spent. */
const silences = (place: string): readonly Fault[] =>
  SILENT_MS.map((ms) => ({
    name: `${place}-hangs-${ms / 1000}-s`,
    async happen({ pids }) {
      const pid = pids().get(place)!
      process.kill(pid, 'SIGSTOP')
      await delay(ms)
      // The supervisor ends a process that hangs for ten seconds.
      if (isThere(pid)) process.kill(pid, 'SIGCONT')
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

const OF_SEVERAL: readonly Fault[] = [
  ...silences('control'),
  killed('control', ['control']),
  killed(
    'proxies',
    Array.from({ length: WORKERS[1] }, (_, index) => `proxy-${index + 1}`),
  ),
]

const OF_ONE: readonly Fault<SingleGateway>[] = [
  ...silences('gateway'),
  {
    name: `gateway-killed-${KILLS}-times`,
    async happen(gateway) {
      for (let kill = 0; kill < KILLS; kill++) {
        await delay(BETWEEN_KILLS_MS)
        await stopProcess(gateway.service.pid, 'SIGKILL')
        await gateway.startAgain()
      }
    },
  },
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

/** The names of the limits that are spent in a fault. */
const limitsIn = (workers: number, fault: string) => [`usd-${workers}-${fault}`, `calls-${workers}-${fault}`] as const

const namesOf = (faults: readonly { readonly name: string }[]): readonly string[] => faults.map(({ name }) => name)

/** Each fault has a budget and a limit of calls of its own: those of one process are not those of two. */
const LIMITS: readonly string[] = [
  ...namesOf([...OF_ONE, ...faultsOf({} as Redis)]).flatMap((name) => limitsIn(1, name)),
  ...namesOf([...OF_SEVERAL, ...faultsOf({} as Redis)]).flatMap((name) => limitsIn(2, name)),
]
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
  notWithWorkers: 'it starts gateways of one and of several processes in any case',
  seconds: 3600,
  table,
  async run(fixture, progress) {
    const postgres = await startPostgres(fixture.workspace)
    const redis = await startRedis(fixture.workspace)
    const authorities: readonly Authority[] = [
      { name: 'SQLite', flags: [], faults: [] },
      { name: 'PostgreSQL', flags: ['--database', postgres.url], faults: [] },
      { name: 'Redis', flags: ['--redis', redis.url], faults: faultsOf(redis) },
    ]
    const findings: Finding[] = []
    for (const { name, flags, faults } of authorities) {
      for (const workers of WORKERS) {
        const place = { name: `${name}-${workers}`, flags }
        const check = { workers, fixture, progress, what: `${name}, ${workers} ${workers === 1 ? 'worker' : 'workers'}` }
        findings.push(
          ...(workers === 1
            ? await checkSpending(await serveSingle(fixture, place), [...OF_ONE, ...faults], check)
            : await checkSpending(
                await serveProcesses(fixture, { ...place, proxies: workers }),
                [...OF_SEVERAL, ...faults],
                check,
              )),
        )
      }
    }
    return findings
  },
}

/** Where limits are counted, and what happens there. */
interface Authority {
  readonly name: string
  readonly flags: readonly string[]
  readonly faults: readonly Fault[]
}

interface Check {
  readonly workers: number
  readonly fixture: SoakFixture
  progress(message: string): void
  /** What findings call the gateway. */
  readonly what: string
}

async function checkSpending<Gateway extends ProcessGateway>(
  gateway: Gateway,
  faults: readonly Fault<Gateway>[],
  { workers, fixture, progress, what }: Check,
): Promise<readonly Finding[]> {
  const seen = serveLimited(fixture.open)
  const asking = new Map<string, Askers>()
  for (const { name: fault, prepare, happen } of faults) {
    progress(`${what}: ${fault}`)
    for (const limit of limitsIn(workers, fault)) asking.set(limit, ask(gateway, limit))
    await delay(AROUND_MS / 10)
    await prepare?.()
    await delay(AROUND_MS / 10)
    await happen(gateway)
    await delay(AROUND_MS)
  }
  await Promise.all(Array.from(asking.values(), (askers) => askers.stop()))
  await stopProcess(gateway.service.pid, 'SIGINT')
  return faults.flatMap(({ name }) => {
    const [usd, calls] = limitsIn(workers, name)
    return [
      ...checkUsd(`${what}: ${name}:`, asking.get(usd)!.answers, seen(usd)),
      ...checkCalls(`${what}: ${name}:`, asking.get(calls)!.answers, seen(calls)),
    ]
  })
}

/** Clients keep asking for a limit that is spent, also in the faults of others. */
function ask({ url }: ProcessGateway, limit: string): Askers {
  const body = { model: `${limit}/m`, max_tokens: ANSWER_TOKENS, messages: [{ role: 'user', content: 'Are you there?' }] }
  const urls = Array.from({ length: CLIENTS }, () => url)
  const pauses = { pauseMs: PAUSE_MS, servedPauseMs: PAUSE_MS }
  return keepAsking({ urls, key: SECRETS.get(limit)!, body: JSON.stringify(body), ...pauses })
}

/** Only calls that were under way when a process ended may cost more: those that reached the upstream, and whose clients have no reply. */
function checkUsd(what: string, answers: readonly Answer[], { arrivals }: Seen): readonly Finding[] {
  const spent = arrivals.reduce((sum, { tokens }) => sum + tokens - PROMPT_TOKENS, 0)
  const served = servedOf(answers).reduce((sum, { body }) => sum + tokensIn(body), 0)
  const underWay = (spent - served) * USD_PER_TOKEN
  return [
    atMost(
      USD + Math.ceil(underWay * 100) / 100,
      'USD',
      `${what} spent, ${underWay.toFixed(2)} of it by calls that broke off`,
      spent * USD_PER_TOKEN,
    ),
    atLeast(0.01, 'USD', `${what} spent`, spent * USD_PER_TOKEN),
  ]
}

function checkCalls(what: string, answers: readonly Answer[], { arrivals }: Seen): readonly Finding[] {
  const underWay = arrivals.length - servedOf(answers).length
  return [
    atMost(CALLS + UNKNOWING + underWay, 'calls', `${what} served, ${underWay} of them broke off`, arrivals.length),
    atLeast(1, 'calls', `${what} served`, arrivals.length),
  ]
}

const servedOf = (answers: readonly Answer[]): readonly Answer[] => answers.filter(({ status, whole }) => status === 200 && whole)

const tokensIn = (body: string): number =>
  (JSON.parse(body) as { readonly usage: { readonly completion_tokens: number } }).usage.completion_tokens
