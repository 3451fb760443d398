import { setTimeout as delay } from 'node:timers/promises'
import { type Askers, keepAsking } from '../asking.ts'
import type { Answer } from '../client.ts'
import type { SoakFixture } from '../fixture.ts'
import { limitedRoutes } from '../limited-routes.ts'
import { type Seen, serveLimited } from '../limited-upstream.ts'
import { startPostgres } from '../postgres.ts'
import { type ProcessGateway, serveProcesses } from '../process-gateway.ts'
import { startRedis } from '../redis.ts'
import { atLeast, atMost, exactly, type Finding, type Scenario } from '../scenario.ts'
import { stopProcess } from '../stop-process.ts'

const GATEWAYS = 2
const PROXIES = 2
const OUTAGE_MS = 30_000
/** The limit that each outage is tested with, and the calls that were made of it before and during the outage. */
const [LIMIT, BEFORE, MEANWHILE] = [800, 80, 15]
/** All limits are right again by then. */
const RIGHT_MS = 5_000
/** The longest that a call may wait for an authority that is away. */
const SLOWEST_MS = 2_000
/** A limit is used up when no call was served for so long. */
const OVER_MS = 5_000
/** Until the authority knows what was spent. */
const TOLD_MS = 3_000
/** Clients of each gateway, and the pause between their calls. */
const CLIENTS = 4
const PAUSE_MS = 20

const limitOf = (onOutage: string) => `{ requests: 10M/d, onOutage: ${onOutage} }`
const { table, keys } = limitedRoutes({
  steady: limitOf('serve'),
  strict: limitOf('refuse'),
  stopped: `{ requests: ${LIMIT}/d }`,
  hanging: `{ requests: ${LIMIT}/d }`,
  emptied: `{ requests: ${LIMIT}/d }`,
  restored: `{ requests: ${LIMIT}/d }`,
})

/** What happens to an authority. */
interface Outage {
  /** The limit that it is tested with. */
  readonly limit: string
  readonly ms: number
  /** When half of the calls before the outage were made. */
  prepare?(): Promise<void>
  begin(): Promise<void> | void
  end(): Promise<void> | void
}

/** Redis and PostgreSQL are away, or have forgotten what was spent: calls are served or refused as the limit says, and no limit is lost. */
export const authorityAway: Scenario = {
  name: 'authority-away',
  notWithWorkers: 'it starts gateways of several processes in any case',
  seconds: 900,
  table,
  async run(fixture, progress) {
    const redis = await startRedis(fixture.workspace)
    const onRedis: readonly Outage[] = [
      { limit: 'stopped', ms: OUTAGE_MS, begin: () => redis.stop(), end: () => redis.start('all') },
      { limit: 'hanging', ms: OUTAGE_MS, begin: () => redis.pause(), end: () => redis.resume() },
      { limit: 'emptied', ms: 0, begin: () => redis.stop(), end: () => redis.start('nothing') },
      { limit: 'restored', ms: 0, prepare: () => redis.copy(), begin: () => redis.stop(), end: () => redis.start('the copy') },
    ]
    const postgres = await startPostgres(fixture.workspace)
    const onPostgres = [{ limit: 'stopped', ms: OUTAGE_MS, begin: () => postgres.stop(), end: () => postgres.start() }]
    return [
      ...(await checkOutages(fixture, { name: 'Redis', flags: ['--redis', redis.url], outages: onRedis }, progress)),
      ...(await checkOutages(
        fixture,
        { name: 'PostgreSQL', flags: ['--database', postgres.url], outages: onPostgres },
        progress,
      )),
    ]
  },
}

interface Authority {
  readonly name: string
  readonly flags: readonly string[]
  readonly outages: readonly Outage[]
}

async function checkOutages(
  fixture: SoakFixture,
  { name, flags, outages }: Authority,
  progress: (message: string) => void,
): Promise<readonly Finding[]> {
  progress(`starting gateways on ${name}`)
  const seen = serveLimited(fixture.open)
  const gateways: ProcessGateway[] = []
  for (let index = 0; index < GATEWAYS; index++)
    gateways.push(await serveProcesses(fixture, { name: `${name}-${index}`, proxies: PROXIES, flags }))
  const findings: Finding[] = []
  for (const outage of outages) {
    progress(`${name} ${outage.limit}`)
    const spend = (...some: ProcessGateway[]) => new Spending(some, outage.limit, seen(outage.limit))
    findings.push(...(await checkOutage(gateways, outage, spend, `${name} ${outage.limit}:`)))
  }
  await Promise.all(gateways.map(({ service }) => stopProcess(service.pid, 'SIGINT')))
  return findings
}

async function checkOutage(
  gateways: readonly ProcessGateway[],
  outage: Outage,
  spend: (...gateways: ProcessGateway[]) => Spending,
  what: string,
): Promise<readonly Finding[]> {
  const [first, second] = gateways as [ProcessGateway, ProcessGateway]
  const steady = ask(gateways, 'steady')
  await spend(first, second).until(BEFORE / 2)
  await delay(TOLD_MS)
  await outage.prepare?.()
  await spend(first, second).until(BEFORE)
  await delay(TOLD_MS)

  await outage.begin()
  const strict = ask(gateways, 'strict')
  await spend(second).until(BEFORE + MEANWHILE)
  await delay(outage.ms)
  await strict.stop()
  await outage.end()

  await delay(RIGHT_MS)
  const strictAgain = ask(gateways, 'strict')
  const total = await spend(first).untilRefused()
  await Promise.all([strictAgain.stop(), steady.stop()])
  const refused = strict.answers.filter(isUnavailable)
  return [
    exactly(0, `${what} of ${steady.answers.length} calls, not served`, steady.answers.filter(isNotServed).length),
    atMost(SLOWEST_MS, 'ms', `${what} the slowest of them`, Math.max(...steady.answers.map(({ took }) => took))),
    exactly(
      0,
      `${what} calls of a limit that refuses then, neither served nor refused`,
      strict.answers.filter(isNotServed).length - refused.length,
    ),
    ...(outage.ms > 0 ? [atLeast(1, 'calls', `${what} refused by it`, refused.length)] : []),
    exactly(0, `${what} refused by it afterwards`, strictAgain.answers.filter(isNotServed).length),
    exactly(LIMIT, `${what} calls of a limit, before, meanwhile and afterwards`, total),
  ]
}

const isNotServed = ({ status }: Answer): boolean => status !== 200
const isUnavailable = ({ status, body }: Answer): boolean => status === 503 && body.includes('"limits_unavailable"')

function ask(gateways: readonly ProcessGateway[], limit: string): Askers {
  const urls = gateways.flatMap(({ url }) => Array.from({ length: CLIENTS }, () => url))
  const body = JSON.stringify({ model: `${limit}/m`, messages: [{ role: 'user', content: 'Are you there?' }] })
  return keepAsking({ urls, key: keys[limit]!, body, pauseMs: PAUSE_MS, servedPauseMs: PAUSE_MS })
}

/** Calls that use up a limit at some gateways. */
class Spending {
  readonly #askers: Askers
  readonly #seen: Seen

  constructor(gateways: readonly ProcessGateway[], limit: string, seen: Seen) {
    this.#askers = ask(gateways, limit)
    this.#seen = seen
  }

  /** Ends the calls when so many of the limit were served. */
  async until(count: number): Promise<void> {
    while (this.#seen.arrivals.length < count) await delay(1)
    await this.#askers.stop()
  }

  /** Ends the calls when none was served for a while. Resolves to how many of the limit were served. */
  async untilRefused(): Promise<number> {
    const startedAt = performance.now()
    const lastAt = (): number => Math.max(startedAt, this.#seen.arrivals.at(-1)!.at)
    while (performance.now() - lastAt() < OVER_MS) await delay(PAUSE_MS)
    await this.#askers.stop()
    return this.#seen.arrivals.length
  }
}
