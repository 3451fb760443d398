import { join } from 'node:path'
import { expect } from 'chai'
import { stringify } from 'yaml'
import { createSecret } from '../../../core/keys/format.ts'
import { openStore, type Store } from '../../../core/store/database.ts'
import { digestOf } from '../../../core/text/ids.ts'
import { until } from '../../support/poll.ts'
import { Home, type Umg } from '../lifecycle/umg.ts'
import { Cluster } from '../processes/cluster.ts'
import { type PricedUpstream, pricedUpstream } from './fixture.ts'

const SECRET = createSecret('live')
const KEY = { name: 'nightly', hash: `sha256:${digestOf(SECRET)}`, kind: 'live', models: ['*'], budget: '1000 USD/month' }
/** Of each call to `up/call`, in nano-dollars. */
const COST = 250_000_000

/** The ids of the calls whose whole replies their client has. */
class Callers {
  readonly served = new Set<string>()
  broken = 0
  readonly #over = new AbortController()
  readonly #running: readonly Promise<void>[]

  /** Half of them ask for streams. `call`: makes a call on a connection of its own. */
  constructor(count: number, call: (stream: boolean) => Promise<Response>) {
    this.#running = Array.from({ length: count }, async (_, index) => {
      while (!this.#over.signal.aborted) await this.#make(() => call(index % 2 === 0))
    })
  }

  async #make(call: () => Promise<Response>): Promise<void> {
    try {
      const reply = await call()
      const text = await reply.text()
      expect(reply.status).to.equal(200)
      const isWhole = !reply.headers.get('content-type')!.includes('event-stream') || text.trimEnd().endsWith('data: [DONE]')
      if (isWhole) this.served.add(reply.headers.get('x-request-id')!)
      else this.broken += 1
    } catch (error) {
      if (!(error instanceof TypeError)) throw error
      this.broken += 1
    }
  }

  /** Resolves when so many further calls were served. */
  async serve(calls: number): Promise<void> {
    const count = this.served.size + calls
    await until(() => this.served.size >= count)
  }

  async stop(): Promise<void> {
    this.#over.abort()
    await Promise.all(this.#running)
  }
}

describe('the ledger', () => {
  let priced: PricedUpstream
  let store: Store | undefined
  let callers: Callers | undefined

  beforeEach(async () => {
    priced = await pricedUpstream()
  })

  afterEach(async () => {
    await callers?.stop()
    await store?.close()
    await priced?.close()
  })

  const routes = () => ({
    'routes.yaml': stringify({ version: 1, ...priced.routes({ keys: [KEY] }), budgets: { onOutage: 'serve' } }),
  })

  const call = (url: string, stream: boolean): Promise<Response> =>
    fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${SECRET}`, 'content-type': 'application/json', connection: 'close' },
      body: JSON.stringify({ model: 'up/call', stream, messages: [{ role: 'user', content: 'Hi.' }] }),
    })

  /** Resolves when all calls that were served have rows, and checks that nothing else is in the ledger but calls that broke off. */
  async function expectLedger({ served, broken }: Callers, folder: string): Promise<void> {
    store = await openStore(`sqlite:${join(folder, 'data', 'gateway.db')}`)
    const { db } = store
    const rows = () => db.selectFrom('calls').select(['id', 'cost', 'estimated']).where('key_id', '=', 'routes:nightly').execute()
    await until(async () => {
      const ids = new Set((await rows()).map(({ id }) => id))
      return [...served].every((id) => ids.has(id))
    })
    const all = (await rows()).filter(({ cost }) => cost !== null)
    // The cost of a call that a kill has cut is an estimate.
    expect(all.every(({ cost, estimated }) => cost === COST || estimated === 1)).to.equal(true)
    expect(all.every(({ id, estimated }) => !served.has(id) || estimated === 0)).to.equal(true)
    expect(all.length).to.be.within(served.size, Math.min(served.size + broken, priced.upstream.requests.length))
    const { sum } = await db
      .selectFrom('usage')
      .select(({ fn }) => fn.sum<number>('cost').as('sum'))
      .where('span', '=', 'day')
      .where('dimension', '=', 'key')
      .where('name', '=', 'routes:nightly')
      .executeTakeFirstOrThrow()
    expect(sum).to.equal(all.reduce((total, { cost }) => total + cost!, 0))
  }

  it('has every call that was served, whichever processes are killed', async () => {
    const cluster = await Cluster.start(routes())
    try {
      callers = new Callers(8, (stream) => call(cluster.url, stream))
      for (const place of ['proxy-1', 'control', 'proxy-2']) {
        await callers.serve(40)
        await cluster.crash(place)
      }
      await callers.serve(40)
      await callers.stop()
      await expectLedger(callers, cluster.home.path)
    } finally {
      await cluster.stop()
    }
  })

  it('has every call of a gateway that was killed as a whole, once it is started again', async () => {
    const home = await Home.create(routes())
    const start = async (): Promise<{ umg: Umg; url: string }> => home.start('--drain-delay', '0')
    try {
      const { umg, url } = await start()
      callers = new Callers(8, (stream) => call(url, stream))
      await callers.serve(150)
      umg.signal('SIGKILL')
      await umg.ended
      await callers.stop()
      await start()
      await expectLedger(callers, home.path)
    } finally {
      await home.remove()
    }
  })
})
