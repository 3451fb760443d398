import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect } from 'chai'
import { stringify } from 'yaml'
import { createSecret } from '../../../core/keys/format.ts'
import { DONE, type Hold, hold, openaiReply, sse } from '../../../core/testing/kit.ts'
import { digestOf } from '../../../core/text/ids.ts'
import { rowOfLine } from '../../../core/usage/served-call.ts'
import { until } from '../../support/poll.ts'
import { type PricedUpstream, pricedUpstream } from '../budgets/fixture.ts'
import { Home } from '../lifecycle/umg.ts'
import { Cluster } from '../processes/cluster.ts'

const SECRET = createSecret('live')
const KEY = { name: 'nightly', hash: `sha256:${digestOf(SECRET)}`, kind: 'live', models: ['*'], budget: '1000 USD/month' }
/** Of each token that is written, in nano-dollars. */
const PRICE = 1_000_000

const TEXT = 'word '.repeat(200)
/** The fewest tokens that a text of this length may be charged for. */
const TOKENS = 250
const USAGE = { prompt_tokens: 10, completion_tokens: 300, total_tokens: 310 }
const EVENTS = openaiReply({ text: TEXT, usage: USAGE }).stream

interface Row {
  readonly id: string
  readonly outcome: string
  readonly error: string | null
  readonly estimated: number
  readonly tokens: number | null
  readonly cost: number | null
  readonly attempts: string
}

describe('the row of a stream whose process is killed', () => {
  let priced: PricedUpstream
  let routes: Readonly<Record<string, string>>
  /** Where the streams of calls to `up/token` wait, after their text. */
  let written: Hold
  let home: Home | undefined
  let cluster: Cluster | undefined

  beforeEach(async () => {
    priced = await pricedUpstream()
    written = hold()
    priced.upstream.on(() => sse([...EVENTS.filter((event) => event !== DONE).slice(0, -1), written, ...EVENTS.slice(-2)]))
    routes = { 'routes.yaml': stringify({ version: 1, ...priced.routes({ keys: [KEY] }), budgets: { onOutage: 'serve' } }) }
  })

  afterEach(async () => {
    await cluster?.stop()
    await home?.remove()
    await priced?.close()
    cluster = undefined
    home = undefined
  })

  const stream = (url: string): Promise<Response> =>
    fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${SECRET}`, 'content-type': 'application/json', connection: 'close' },
      body: JSON.stringify({ model: 'up/token', stream: true, messages: [{ role: 'user', content: 'Hi.' }] }),
    })

  const idOf = (reply: Response): string => reply.headers.get('x-request-id')!

  /** Resolves when the journals of the processes have lines of the calls with all that is written. */
  const noted = (folder: string, ids: readonly string[]): Promise<void> =>
    until(async () => {
      const all = await readdir(join(folder, 'data/journal')).catch(() => [])
      const names = all.filter((name) => name.endsWith('.jsonl'))
      const texts = await Promise.all(names.map((name) => readFile(join(folder, 'data/journal', name), 'utf8').catch(() => '')))
      const rows = texts.flatMap((text) => text.split('\n').slice(0, -1).map(rowOfLine))
      return ids.every((id) => rows.some((row) => row.id === id && row.output_tokens! >= TOKENS))
    })

  /** The rows, once there are so many of calls that have ended, and the cost of their sum. */
  async function rowsOf(folder: string, count: number): Promise<{ readonly rows: readonly Row[]; readonly sum: number }> {
    const database = new DatabaseSync(join(folder, 'data/gateway.db'), { readOnly: true })
    const rows = database.prepare('select id, outcome, error, estimated, output_tokens as tokens, cost, attempts from calls')
    const sum = database.prepare("select sum(cost) as sum from usage where span = 'day' and dimension = 'key'")
    try {
      await until(() => rows.all().length >= count)
      return { rows: rows.all() as unknown as Row[], ...(sum.get() as { readonly sum: number }) }
    } finally {
      database.close()
    }
  }

  function expectCut(row: Row | undefined): void {
    expect(row).to.include({ outcome: 'gateway_error', error: 'process_killed', estimated: 1 })
    expect(JSON.parse(row!.attempts)[0].result).to.equal('process_killed')
    expect(row!.tokens).to.be.at.least(TOKENS)
    expect(row!.cost).to.equal(row!.tokens! * PRICE)
  }

  const expectWhole = (row: Row | undefined): void => {
    expect(row).to.include({ outcome: 'ok', error: null, estimated: 0, tokens: 300, cost: 300 * PRICE })
  }

  it('is there once a gateway of one process is started again, with its charge', async () => {
    home = await Home.create(routes)
    const { umg, url } = await home.start('--drain-delay', '0')
    const long = await stream(url)
    await noted(home.path, [idOf(long)])
    written.release()
    await long.text()
    written = hold()
    const cut = await stream(url)
    const broken = cut.text().catch(() => 'broken')
    await noted(home.path, [idOf(cut)])
    umg.signal('SIGKILL')
    await umg.ended
    expect(await broken).to.equal('broken')
    await home.start('--drain-delay', '0')
    const { rows, sum } = await rowsOf(home.path, 2)
    expect(rows).to.have.length(2)
    expectCut(rows.find(({ id }) => id === idOf(cut)))
    expectWhole(rows.find(({ id }) => id === idOf(long)))
    expect(sum).to.equal(rows.reduce((total, { cost }) => total + cost!, 0))
  })

  it('is written while the other processes go on', async () => {
    cluster = await Cluster.start(routes)
    const { url, home: at } = cluster
    const streams = await Promise.all(Array.from({ length: 4 }, () => stream(url)))
    const texts = streams.map((reply) => reply.text().catch(() => 'broken'))
    await noted(at.path, streams.map(idOf))
    await cluster.crash('proxy-1')
    const { rows: early } = await rowsOf(at.path, 2)
    expect(early).to.have.length(2)
    early.forEach(expectCut)
    written.release()
    const isCut = (await Promise.all(texts)).map((text) => text === 'broken')
    expect(isCut.filter(Boolean)).to.have.length(2)
    const { rows } = await rowsOf(at.path, 4)
    expect(rows).to.have.length(4)
    for (const [index, reply] of streams.entries()) {
      const row = rows.find(({ id }) => id === idOf(reply))
      if (isCut[index]) expectCut(row)
      else expectWhole(row)
    }
  })
})
