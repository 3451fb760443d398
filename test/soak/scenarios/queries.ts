import { join } from 'node:path'
import { startBackgroundClient } from '../background-client.ts'
import { bodyOf, createClient } from '../client.ts'
import { serveEndlessStreams } from '../endless-streams.ts'
import type { SoakedGateway, SoakFixture } from '../fixture.ts'
import { startPostgres } from '../postgres.ts'
import { atMost, exactly, type Finding, type Scenario } from '../scenario.ts'
import { accountOf, DAY_MS, fill, keyId, modelOf } from './query-data.ts'

const SLOWEST_MS = 200
const LATEST_MS = 50
const STREAMS = 20
/** Repetitions of each query: the median ignores other load on the machine. */
const ROUNDS = 5

/** A query of the management API and its kind. */
interface Query {
  readonly kind: string
  readonly path: string
}

/** Queries of a full database must be fast, and must not delay streams. */
export const queries: Scenario = {
  name: 'queries',
  seconds: 900,
  async run(fixture, progress) {
    const postgres = await startPostgres(fixture.workspace)
    const databases = { SQLite: `sqlite:${join(fixture.workspace.scratch, 'full.db')}`, PostgreSQL: postgres.url }
    const findings: Finding[] = []
    for (const [name, url] of Object.entries(databases)) {
      const report = (message: string) => progress(`${name}: ${message}`)
      const middle = await fill(url, report)
      // PostgreSQL would have done so itself during the thirty days.
      if (url === postgres.url) await postgres.query('vacuum analyze')
      findings.push(...(await runQueries(fixture, url, { name, middle, report })))
    }
    return findings
  },
}

interface FullDatabase {
  readonly name: string
  /** The id of a call from the middle. */
  readonly middle: string
  report(message: string): void
}

async function runQueries(
  { open, start }: SoakFixture,
  url: string,
  { name, middle, report }: FullDatabase,
): Promise<readonly Finding[]> {
  const startedAt = performance.now()
  const gateway = await start(url)
  report(`started in ${Math.round(performance.now() - startedAt)} ms`)
  const over = new AbortController()
  serveEndlessStreams(open, over.signal)
  const client = createClient(gateway, gateway.keys.many)
  const streams = Array.from({ length: STREAMS }, () => client.call(bodyOf({ model: 'open/endless', stream: true })))
  const background = startBackgroundClient(gateway, 'open/whole')
  const requests = queriesFor(middle)
  const times = new Map<Query, number[]>(requests.map((query) => [query, []]))
  const late: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    await gateway.lateness()
    for (const query of requests) times.get(query)!.push(await ask(gateway, query.path))
    late.push(await gateway.lateness())
  }
  await background.stop()
  over.abort()
  const broken = (await Promise.all(streams)).filter(({ body }) => !body.endsWith('data: [DONE]\n\n'))
  client.close()
  gateway.kill('SIGINT')
  for (const [{ path }, took] of times) report(`${path}: ${took.map(Math.round).join(', ')} ms`)
  report(`late: ${late.map(Math.round).join(', ')} ms`)
  return [
    ...slowest(name, times),
    atMost(LATEST_MS, 'ms', `${name}: the event loop late meanwhile, median of ${ROUNDS} rounds`, median(late)),
    exactly(0, `${name}: streams beside them, of ${STREAMS}, that broke off`, broken.length),
  ]
}

/** For each kind, the median time of its slowest query. */
function slowest(name: string, times: ReadonlyMap<Query, readonly number[]>): Finding[] {
  const kinds = Map.groupBy(times, ([{ kind }]) => kind)
  return [...kinds].map(([kind, requests]) => {
    const worst = Math.max(...requests.map(([, took]) => median(took)))
    return atMost(SLOWEST_MS, 'ms', `${name}: ${kind}, slowest of ${requests.length}, each the median of ${ROUNDS}`, worst)
  })
}

function queriesFor(middle: string): readonly Query[] {
  const day = (ago: number) => new Date(Date.now() - ago * DAY_MS).toISOString()
  const account = accountOf(7)
  const of = (kind: string, ...paths: readonly string[]) => paths.map((path) => ({ kind, path }))
  const usage = (group: string, more = '') => `/usage?group=${group}&from=${day(30)}&to=${day(0)}&step=day${more}`
  const hours = (group: string) => `/usage?group=${group}&from=${day(7)}&to=${day(0)}&step=hour`
  return [
    ...of(
      'a list of requests',
      '/requests',
      '/requests?limit=200',
      `/requests?cursor=${middle}`,
      `/requests?from=${day(20)}&to=${day(19)}`,
      `/requests?key_id=${keyId(7)}`,
      `/requests?key_id=${keyId(77_777)}`,
      `/requests?model=${modelOf(0)}`,
      `/requests?model=${modelOf(39)}`,
      '/requests?model=open/of-nobody',
      '/requests?status=502',
      '/requests?fault=gateway',
      '/requests?status=200&fault=upstream',
      `/requests?account_id=${account}`,
      `/requests?account_id=${account}&model=${modelOf(39)}`,
      `/requests?account_id=${account}&fault=gateway`,
      `/requests?key_id=${keyId(7)}&status=502&from=${day(20)}`,
    ),
    ...of(
      'a search for a request',
      `/requests?q=${middle.slice(0, 9)}`,
      `/requests?q=${middle.slice(4, 16)}`,
      '/requests?q=ffff',
    ),
    ...of('a request by its id', `/requests/${middle}`, `/requests?q=${middle}`),
    ...of(
      'usage',
      usage('model'),
      usage('account'),
      usage('tag:team'),
      usage('key'),
      usage('key', `&account_id=${account}`),
      hours('model'),
      hours('key'),
    ),
    ...of('a list of keys', '/keys', '/keys?status=revoked', `/keys?account_id=${account}`),
    ...of('a search for a key', '/keys?q=service%2077777', '/keys?q=7777', '/keys?q=nobody'),
  ]
}

/** The milliseconds of a query. Throws if it fails. */
async function ask({ url, keys }: SoakedGateway, path: string): Promise<number> {
  const startedAt = performance.now()
  const reply = await fetch(`${url}/api/v1${path}`, { headers: { authorization: `Bearer ${keys.admin}` } })
  const text = await reply.text()
  if (reply.status !== 200) throw new Error(`${path} was answered ${reply.status} ${text}`)
  return performance.now() - startedAt
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1]!
