import { mock } from 'node:test'
import { expect } from 'chai'
import { createSetupToken } from '../../../core/accounts/setup.ts'
import { onEachDatabase } from '../../support/databases.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { ApiClient, type ApiReply } from './api-client.ts'
import { PASSWORD } from './fixture.ts'

const MINUTE = 60_000
const ADA = { email: 'ada@example.com', password: PASSWORD }

const outcome = ({ status, body }: ApiReply) => [status, body.code]

onEachDatabase('the setup link', (database) => {
  let gateway: TestGateway
  beforeEach(async () => {
    gateway = await startTestGateway({ routes: { namespaces: { sandbox: { provider: 'sandbox' } } }, database: await database() })
  })
  afterEach(async () => {
    mock.timers.reset()
    await gateway?.stop()
  })

  const link = async () => ({ token: await createSetupToken(gateway.store), name: 'Ada', ...ADA })
  const users = () => gateway.store.db.selectFrom('users').select(['email', 'role', 'account_id']).execute()

  it('creates the first admin, once, and signs in', async () => {
    const client = new ApiClient(gateway.url)
    expect((await client.get('/sign-in')).body).to.include({ setup_needed: true, password: true })
    const first = await link()
    const second = await link()
    const { status, body } = await client.post('/setup', first)
    expect(status).to.equal(201)
    expect(body.user).to.include({ email: 'ada@example.com', name: 'Ada', role: 'admin' })
    expect((await client.get('/session')).body.user).to.deep.equal(body.user)
    expect((await client.get('/sign-in')).body).to.include({ setup_needed: false })
    for (const used of [first, second])
      expect(outcome(await new ApiClient(gateway.url).post('/setup', { ...used, email: 'eve@example.com' }))).to.deep.equal([
        410,
        'link_invalid',
      ])
    expect(await createSetupToken(gateway.store)).to.equal(undefined)
    expect(await users()).to.have.length(1)
  })

  it('creates one admin for fifty concurrent requests', async () => {
    const used = await link()
    const racers = Array.from({ length: 50 }, (_, i) =>
      new ApiClient(gateway.url).post('/setup', { ...used, email: `racer-${i}@example.com` }),
    )
    const outcomes = (await Promise.all(racers)).map(({ status }) => status)
    expect(outcomes.filter((status) => status === 201)).to.have.length(1)
    expect(outcomes.filter((status) => status !== 201 && status !== 410 && status !== 503)).to.deep.equal([])
    expect(await users()).to.have.length(1)
  })

  it('expires after an hour', async () => {
    const used = await link()
    mock.timers.enable({ apis: ['Date'], now: Date.now() + 60 * MINUTE })
    expect(outcome(await new ApiClient(gateway.url).post('/setup', used))).to.deep.equal([410, 'link_invalid'])
    expect(await users()).to.deep.equal([])
  })

  it('stays valid after a refused request', async () => {
    const used = await link()
    const client = new ApiClient(gateway.url)
    for (const [wrong, param] of [
      [{ password: 'too short' }, 'password'],
      [{ password: used.token! }, 'password'],
      [{ password: `${ADA.email}!` }, 'password'],
      [{ email: 'nowhere' }, 'email'],
      [{ name: ' ' }, 'name'],
      [{ role: 'admin' }, 'role'],
    ] as const)
      expect(await client.post('/setup', { ...used, ...wrong })).to.have.nested.property('body.param', param)
    expect((await client.post('/setup', used)).status).to.equal(201)
  })

  it('with an unknown token is refused', async () => {
    await link()
    for (const token of ['', 'x'.repeat(43), 'A'.repeat(200)])
      expect(outcome(await new ApiClient(gateway.url).post('/setup', { ...(await link()), token }))).to.deep.equal([
        410,
        'link_invalid',
      ])
  })
})
