import { mock } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { expect } from 'chai'
import { createSecret } from '../../../core/keys/format.ts'
import { digestOf } from '../../../core/text/ids.ts'
import { onPostgres } from '../../support/databases.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { until } from '../../support/poll.ts'
import { startTcpProxy, type TcpProxy } from '../../support/tcp-proxy.ts'

/** How often the database is asked for changes of keys, and for how long in vain until cached keys are given up, in milliseconds. */
const POLL_MS = 250
const KEYS_LOST_MS = 5 * 60_000

const DECLARED = createSecret('live')

onPostgres('The readiness of a gateway whose database is away', (create) => {
  let server: TcpProxy
  let gateway: TestGateway

  const start = async (more: object = {}): Promise<void> => {
    server = await startTcpProxy(await create())
    mock.timers.enable({ apis: ['setInterval'] })
    gateway = await startTestGateway({
      routes: { chain: [{ plugin: 'auth' }], namespaces: { box: { provider: 'sandbox' } }, ...more },
      database: server.url,
    })
  }
  afterEach(async () => {
    mock.timers.reset()
    server?.reconnect()
    await gateway?.stop()
    await server?.close()
  })

  async function loseKeys(): Promise<void> {
    server.disconnect()
    await until(() =>
      gateway.store.changed().then(
        () => false,
        () => true,
      ),
    )
    for (let passed = 0; passed < KEYS_LOST_MS; passed += POLL_MS) {
      mock.timers.tick(POLL_MS)
      await setImmediate()
    }
  }

  async function call(key?: string): Promise<number> {
    const json = { model: 'box/any', messages: [{ role: 'user', content: 'Hi' }] }
    const reply = await gateway.fetch('/v1/chat/completions', { json, ...(key !== undefined && { key }) })
    await reply.body?.cancel()
    return reply.status
  }

  async function readyz(query = ''): Promise<{ status: number; text: string }> {
    const reply = await fetch(`${gateway.url}/readyz${query}`)
    return { status: reply.status, text: await reply.text() }
  }

  it('ends when all calls fail, and comes back with the database', async () => {
    await start()
    expect(await call()).to.equal(200)
    await loseKeys()
    expect(await call()).to.equal(503)
    expect(await readyz()).to.deep.equal({ status: 503, text: 'keys lost\n' })
    const verbose = await readyz('?verbose')
    expect(verbose.status).to.equal(503)
    expect(verbose.text).to.match(/^keys lost\n\[-\] keys lost: No key can be checked: .*five minutes/)
    server.reconnect()
    await until(async () => (await readyz()).status === 200)
    expect(await call()).to.equal(200)
  })

  it('stays while keys and accounts of routes.yaml need no database', async () => {
    const hash = `sha256:${digestOf(DECLARED)}`
    await start({
      accounts: { ci: {} },
      keys: [{ name: 'declared', account: 'ci', kind: 'live', hash, models: ['*'] }],
    })
    expect(await call()).to.equal(200)
    await loseKeys()
    expect([await call(), await call(DECLARED)]).to.deep.equal([503, 200])
    expect((await readyz()).status).to.equal(200)
  })
})
