import { setTimeout as delay } from 'node:timers/promises'
import { type Asking, keepAsking } from '../asking.ts'
import type { SoakFixture } from '../fixture.ts'
import { limitedRoutes } from '../limited-routes.ts'
import { type Seen, serveLimited } from '../limited-upstream.ts'
import { startPostgres } from '../postgres.ts'
import { type ProcessGateway, serveProcesses } from '../process-gateway.ts'
import { startRedis } from '../redis.ts'
import { atLeast, atMost, exactly, type Finding, type Scenario } from '../scenario.ts'
import { stopProcess } from '../stop-process.ts'

/** The clients of each limit at each gateway: the load is uneven. */
const CLIENTS = [8, 3, 1] as const
const PROXIES = 2
const WINDOW_MS = 60_000
const WINDOWS = 3
/** Clients ask until shortly before the last window ends. */
const ASKING_MS = WINDOWS * WINDOW_MS - 5_000
const PAUSE_MS = 100
/** Until all gateways have their first leases. */
const WARM_UP_MS = 2_000
/** The most tokens of an answer. */
const ANSWER_TOKENS = 200
/** A call reserves its prompt, some 30 tokens, and its longest answer. */
const RESERVATION = ANSWER_TOKENS + 50
const [REQUESTS, PLACES, TOKENS, DAY] = [60, 5, 10_000, 300]
const USABLE = 0.95
/** The limit of a day is asked for until so many calls were served, and after the restart until none was served for so long. */
const BEFORE_RESTART = 100
const OVER_MS = 5_000

const { table, keys } = limitedRoutes({
  requests: `{ requests: ${REQUESTS}/min }`,
  places: `{ concurrent: ${PLACES} }`,
  tokens: `{ tokens: ${TOKENS}/min }`,
  day: `{ requests: ${DAY}/d }`,
})

/** Three gateways of two proxies share limits, by PostgreSQL and by Redis: clients that keep asking get all of a limit, and no more. */
export const quota: Scenario = {
  name: 'quota',
  notWithWorkers: 'it starts gateways of several processes in any case',
  seconds: 900,
  table,
  async run(fixture, progress) {
    const postgres = await startPostgres(fixture.workspace)
    const redis = await startRedis(fixture.workspace)
    const authorities = { PostgreSQL: ['--database', postgres.url], Redis: ['--redis', redis.url] }
    const findings: Finding[] = []
    for (const [name, flags] of Object.entries(authorities)) {
      progress(`starting gateways on ${name}`)
      findings.push(...(await checkQuota(fixture, { name, flags }, progress)))
    }
    return findings
  },
}

interface Authority {
  readonly name: string
  readonly flags: readonly string[]
}

async function checkQuota(
  fixture: SoakFixture,
  authority: Authority,
  progress: (message: string) => void,
): Promise<readonly Finding[]> {
  const seen = serveLimited(fixture.open)
  const gateways = await startAll(fixture, authority, 'first')
  progress(`${authority.name}: ${WINDOWS} windows of a minute`)
  const shared = await checkShared(gateways, seen, authority.name)
  progress(`${authority.name}: restarting the gateways`)
  const before = await askForDay(gateways, () => seen('day').arrivals.length >= BEFORE_RESTART)
  await stopAll(gateways)
  const successors = await startAll(fixture, authority, 'second')
  const startedAt = performance.now()
  const after = await askForDay(successors, () => isOver(seen('day'), startedAt))
  await stopAll(successors)
  const failed = [...before, ...after].filter((status) => status !== 200 && status !== 429)
  return [
    ...shared,
    exactly(
      DAY,
      `${authority.name}: calls in a day, all gateways restarted after ${BEFORE_RESTART}`,
      seen('day').arrivals.length,
    ),
    exactly(0, `${authority.name}: of ${before.length + after.length} calls, neither served nor limited`, failed.length),
  ]
}

/** The limits of a minute, and of places. */
async function checkShared(
  gateways: readonly ProcessGateway[],
  seen: (namespace: string) => Seen,
  name: string,
): Promise<readonly Finding[]> {
  const limited = ['requests', 'places', 'tokens'].map((limit) => keepAsking(askingFor(gateways, limit)))
  await delay(WARM_UP_MS)
  const [busyBefore, startedAt] = [seen('places').busy, performance.now()]
  await delay(ASKING_MS - WARM_UP_MS)
  const inUse = (seen('places').busy - busyBefore) / (performance.now() - startedAt)
  await Promise.all(limited.map((askers) => askers.stop()))
  const calls = limited.flatMap(({ answers }) => answers)
  const requests = seen('requests')
    .windows(WINDOW_MS)
    .map(({ length }) => length)
  const tokens = seen('tokens')
    .windows(WINDOW_MS)
    .map((arrivals) => arrivals.reduce((sum, one) => sum + one.tokens, 0))
  return [
    exactly(WINDOWS, `${name}: windows of a minute`, requests.length),
    exactly(REQUESTS, `${name}: calls in a window, at least`, Math.min(...requests)),
    exactly(REQUESTS, `${name}: calls in a window, at most`, Math.max(...requests)),
    exactly(PLACES, `${name}: places in use at once, at most`, seen('places').most),
    atLeast(USABLE * PLACES, 'places', `${name}: in use, on average`, inUse),
    atMost(TOKENS + RESERVATION, 'tokens', `${name}: in a window, at most`, Math.max(...tokens)),
    atLeast(USABLE * TOKENS, 'tokens', `${name}: in a window, at least`, Math.min(...tokens)),
    exactly(
      0,
      `${name}: of ${calls.length} calls, neither served nor limited`,
      calls.filter(({ status }) => status !== 200 && status !== 429).length,
    ),
  ]
}

function askingFor(gateways: readonly ProcessGateway[], limit: string): Asking {
  const urls = gateways.flatMap(({ url }, index) => Array.from({ length: CLIENTS[index]! }, () => url))
  const body = { model: `${limit}/m`, max_tokens: ANSWER_TOKENS, messages: [{ role: 'user', content: 'Are you there?' }] }
  return { urls, key: keys[limit]!, body: JSON.stringify(body), pauseMs: PAUSE_MS }
}

/** Asks for the limit of a day until `isDone`. Resolves to the statuses of the answers. */
async function askForDay(gateways: readonly ProcessGateway[], isDone: () => boolean): Promise<readonly number[]> {
  const askers = keepAsking({ ...askingFor(gateways, 'day'), servedPauseMs: PAUSE_MS })
  while (!isDone()) await delay(PAUSE_MS)
  await askers.stop()
  return askers.answers.map(({ status }) => status)
}

const isOver = ({ arrivals }: Seen, startedAt: number): boolean =>
  performance.now() - Math.max(startedAt, arrivals.at(-1)!.at) > OVER_MS

async function startAll(
  fixture: SoakFixture,
  { name, flags }: Authority,
  generation: string,
): Promise<readonly ProcessGateway[]> {
  const gateways: ProcessGateway[] = []
  // One after the other: a start takes all cores.
  for (const [index] of CLIENTS.entries())
    gateways.push(await serveProcesses(fixture, { name: `${name}-${generation}-${index}`, proxies: PROXIES, flags }))
  return gateways
}

async function stopAll(gateways: readonly ProcessGateway[]): Promise<void> {
  await Promise.all(gateways.map(({ service }) => stopProcess(service.pid, 'SIGINT')))
}
