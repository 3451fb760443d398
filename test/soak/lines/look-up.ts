import { join } from 'node:path'
import { watchBystander } from '../bystander.ts'
import { bodyOf, createClient } from '../client.ts'
import { serveEndless } from '../endless.ts'
import { atMost, exactly, type Finding, type Line } from '../line.ts'
import { startPostgres } from '../postgres.ts'
import type { SoakedGateway, Stage } from '../stage.ts'
import { accountOf, DAY_MS, fill, keyId, modelOf } from './look-up-data.ts'

const SLOWEST_MS = 200
const LATEST_MS = 50
const STREAMS = 20
/** What others do on this machine must not decide. */
const ROUNDS = 5

/** What is asked, and what kind of question it is. */
interface Question {
  readonly kind: string
  readonly path: string
}

/** A database as full as it gets: people look into it, and no stream waits for them. */
export const lookUp: Line = {
  name: 'look-up',
  seconds: 900,
  async run(stage, progress) {
    const postgres = await startPostgres(stage.place)
    const databases = { SQLite: `sqlite:${join(stage.place.scratch, 'full.db')}`, PostgreSQL: postgres.url }
    const findings: Finding[] = []
    for (const [name, url] of Object.entries(databases)) {
      const tell = (message: string) => progress(`${name}: ${message}`)
      const middle = await fill(url, tell)
      // As it would have done by itself in the thirty days.
      if (url === postgres.url) await postgres.query('vacuum analyze')
      findings.push(...(await lookInto(stage, url, { name, middle, tell })))
    }
    return findings
  },
}

interface Full {
  readonly name: string
  /** An id of the middle of its calls. */
  readonly middle: string
  tell(message: string): void
}

async function lookInto({ open, start }: Stage, url: string, { name, middle, tell }: Full): Promise<readonly Finding[]> {
  const startedAt = performance.now()
  const gateway = await start(url)
  tell(`started in ${Math.round(performance.now() - startedAt)} ms`)
  const over = new AbortController()
  serveEndless(open, over.signal)
  const client = createClient(gateway, gateway.keys.many)
  const streams = Array.from({ length: STREAMS }, () => client.call(bodyOf({ model: 'open/endless', stream: true })))
  const bystander = watchBystander(gateway, 'open/whole')
  const questions = questionsAbout(middle)
  const times = new Map<Question, number[]>(questions.map((question) => [question, []]))
  const late: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    await gateway.lateness()
    for (const question of questions) times.get(question)!.push(await ask(gateway, question.path))
    late.push(await gateway.lateness())
  }
  await bystander.leave()
  over.abort()
  const broken = (await Promise.all(streams)).filter(({ body }) => !body.endsWith('data: [DONE]\n\n'))
  client.close()
  process.kill(gateway.pid, 'SIGINT')
  for (const [{ path }, took] of times) tell(`${path}: ${took.map(Math.round).join(', ')} ms`)
  tell(`late: ${late.map(Math.round).join(', ')} ms`)
  return [
    ...slowest(name, times),
    atMost(LATEST_MS, 'ms', `${name}: the event loop late meanwhile, median of ${ROUNDS} rounds`, median(late)),
    exactly(0, `${name}: streams beside them, of ${STREAMS}, that broke off`, broken.length),
  ]
}

/** Of each kind the question that was slowest, in the middle of its times. */
function slowest(name: string, times: ReadonlyMap<Question, readonly number[]>): Finding[] {
  const kinds = Map.groupBy(times, ([{ kind }]) => kind)
  return [...kinds].map(([kind, questions]) => {
    const worst = Math.max(...questions.map(([, took]) => median(took)))
    return atMost(SLOWEST_MS, 'ms', `${name}: ${kind}, slowest of ${questions.length}, each the median of ${ROUNDS}`, worst)
  })
}

function questionsAbout(middle: string): readonly Question[] {
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
    ...of('a look-up', `/requests/${middle}`, `/requests?q=${middle}`),
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

/** Milliseconds until the whole answer is there. Throws where it is another than it should be. */
async function ask({ url, keys }: SoakedGateway, path: string): Promise<number> {
  const startedAt = performance.now()
  const reply = await fetch(`${url}/api/v1${path}`, { headers: { authorization: `Bearer ${keys.admin}` } })
  const text = await reply.text()
  if (reply.status !== 200) throw new Error(`${path} was answered ${reply.status} ${text}`)
  return performance.now() - startedAt
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1]!
