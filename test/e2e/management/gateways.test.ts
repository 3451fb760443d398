import { expect } from 'chai'
import OpenAI from 'openai'
import { createSecret } from '../../../core/keys/format.ts'
import { onEachDatabase, onPostgres } from '../../support/databases.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { until } from '../../support/poll.ts'
import { startTcpProxy, type TcpProxy } from '../../support/tcp-proxy.ts'
import { refusalOf } from './api-client.ts'
import { type Fixture, startFixture } from './fixture.ts'

const ROUTES = { chain: [{ plugin: 'auth' }], namespaces: { sandbox: { provider: 'sandbox' } } }

const status = async (gateway: TestGateway, key: string): Promise<number> => (await gateway.fetch('/v1/models', { key })).status

onEachDatabase('several gateways on one database', (database) => {
  let fixture: Fixture
  let other: TestGateway
  before(async () => {
    const url = await database()
    fixture = await startFixture(url)
    other = await startTestGateway({ routes: ROUTES, database: url })
  })
  after(async () => {
    await other?.stop()
    await fixture?.stop()
  })

  it('share a new key, and refuse it within a second after one of them revoked it', async () => {
    const { body } = await fixture.member.post('/keys', { name: 'shared', kind: 'live' })
    const key = String(body.secret)
    expect(await status(other, key)).to.equal(200)
    await fixture.member.post(`/keys/${body.id}/revoke`)
    expect(await status(fixture.gateway, key)).to.equal(401)
    await until(async () => (await status(other, key)) === 401)
  })

  it('refuse a key within a second after one of them disabled it, and serve it after it was enabled', async () => {
    const { body } = await fixture.admin.post('/keys', { name: 'paused', kind: 'live' })
    const key = String(body.secret)
    expect(await status(other, key)).to.equal(200)
    await fixture.admin.patch(`/keys/${body.id}`, { disabled: true })
    expect(await status(fixture.gateway, key)).to.equal(401)
    await until(async () => (await status(other, key)) === 401)
    await fixture.admin.patch(`/keys/${body.id}`, { disabled: false })
    await until(async () => (await status(other, key)) === 200)
  })

  it('share sessions and their end', async () => {
    const headers = { cookie: fixture.member.cookieHeader }
    const session = () => fetch(`${other.url}/api/v1/session`, { headers })
    expect((await session()).status).to.equal(200)
    await fixture.admin.post(`/users/${fixture.memberId}/end-sessions`)
    expect((await session()).status).to.equal(401)
  })
})

onPostgres('a gateway whose database becomes unavailable', (database) => {
  let proxy: TcpProxy
  let fixture: Fixture
  let other: TestGateway | undefined
  beforeEach(async () => {
    proxy = await startTcpProxy(await database())
    fixture = await startFixture(proxy.url)
  })
  afterEach(async () => {
    await other?.stop()
    other = undefined
    await fixture?.stop()
    await proxy?.close()
  })

  it('serves keys in use, replies 503 for others, and recovers by itself', async () => {
    const { gateway } = fixture
    const unused = await gateway.key()
    const client = gateway.openai()
    const call = () => client.chat.completions.create({ model: 'sandbox/hello', messages: [{ role: 'user', content: 'Hi' }] })
    await call()
    proxy.disconnect()

    for (let i = 0; i < 3; i++) expect((await call()).choices).to.have.length(1)
    for (const key of [unused, createSecret('live')]) {
      const reply = await gateway.fetch('/v1/models', { key })
      expect(reply.headers.get('retry-after')).to.equal('1')
      expect(await refusalOf(reply)).to.deep.equal([503, 'storage_unavailable'])
    }
    for (const path of ['/session', '/keys', '/sign-in']) {
      const { status, body } = await fixture.admin.get(path)
      expect([status, body.code], path).to.deep.equal([503, 'storage_unavailable'])
    }
    const signIn = await fixture.newClient().post('/session', { email: 'ada@example.com', password: 'whatever it is' })
    expect(signIn.status).to.equal(503)

    proxy.reconnect()
    await until(async () => (await status(gateway, unused)) === 200)
    expect(await status(gateway, createSecret('live'))).to.equal(401)
    expect((await fixture.admin.get('/session')).status).to.equal(200)
    await call()
  })

  it('delays no call of a key in use while the database does not answer, though this gateway made a key just before', async () => {
    const { gateway } = fixture
    expect(await status(gateway, gateway.liveKey)).to.equal(200)
    const unused = await gateway.key()
    proxy.freeze()
    let isAnswered = false
    const refused = gateway.fetch('/v1/models', { key: unused }).finally(() => {
      isAnswered = true
    })
    for (let i = 0; i < 3; i++) expect(await status(gateway, gateway.liveKey)).to.equal(200)
    expect(isAnswered).to.equal(false)
    expect(await refusalOf(await refused)).to.deep.equal([503, 'storage_unavailable'])
    await proxy.disconnect()
  })

  it('refuses a key that was revoked in the meantime', async () => {
    other = await startTestGateway({ routes: ROUTES, database: directUrl() })
    const { body } = await fixture.member.post('/keys', { name: 'shared', kind: 'live' })
    const key = String(body.secret)
    expect(await status(fixture.gateway, key)).to.equal(200)
    proxy.disconnect()
    await other.store.db.updateTable('keys').set({ revoked_at: Date.now() }).where('id', '=', String(body.id)).execute()
    expect(await status(fixture.gateway, key)).to.equal(200)
    proxy.reconnect()
    await until(async () => (await status(fixture.gateway, key)) === 401)
  })

  it('replies such that the official SDK retries', async () => {
    const unused = await fixture.gateway.key()
    proxy.disconnect()
    const client = new OpenAI({ baseURL: `${fixture.gateway.url}/v1`, apiKey: unused, maxRetries: 5 })
    const listing = client.models.list()
    proxy.reconnect()
    expect((await listing).data).to.not.have.length(0)
  })

  /** The same database, not through the proxy. */
  function directUrl(): string {
    const direct = new URL(process.env.UMG_TEST_POSTGRES!)
    direct.pathname = new URL(proxy.url).pathname
    return direct.href
  }
})
