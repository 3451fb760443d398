import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { stringify } from 'yaml'
import { editAccount } from '../../../core/accounts/accounts.ts'
import { GATEWAY } from '../../../core/accounts/audit.ts'
import { createSecret } from '../../../core/keys/format.ts'
import { digestOf } from '../../../core/text/ids.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { ApiClient } from './api-client.ts'

const SECRET = createSecret('live')
const OTHER = createSecret('live')
const SHARED = createSecret('live')

const declaredKey = (name: string, secret: string, more: object = {}) => ({
  name,
  hash: `sha256:${digestOf(secret)}`,
  kind: 'live',
  models: ['*'],
  ...more,
})

const classes = { standard: { requests: '100/day' }, team: { account: { requests: '4/day' } } }

const ROUTES = {
  chain: [{ plugin: 'auth' }, { plugin: 'rate-tagging', config: { classes, default: 'standard' } }],
  namespaces: { sandbox: { provider: 'sandbox' }, spare: { provider: 'sandbox' } },
  accounts: {
    research: { models: ['sandbox/*'], class: 'team', tags: { team: 'search', floor: '2' } },
    vision: { class: 'team' },
  },
  keys: [
    declaredKey('nightly', SECRET, { account: 'research', tags: { team: 'vision' } }),
    declaredKey('plain', OTHER),
    declaredKey('shared', SHARED, { account: 'vision' }),
  ],
}

describe('an account of routes.yaml', () => {
  let gateway: TestGateway
  let program: ApiClient
  before(async () => {
    gateway = await startTestGateway({ routes: ROUTES })
    program = new ApiClient(gateway.url, await gateway.key({ kind: 'admin' }))
  })
  after(() => gateway?.stop())

  const ask = (key: string, model = 'sandbox/m'): Promise<Response> =>
    gateway.fetch('/v1/chat/completions', { key, json: { model, messages: [{ role: 'user', content: 'Hi' }] } })
  const statusOf = async (key: string, model?: string): Promise<number> => (await ask(key, model)).status

  async function reload(routes: object): Promise<void> {
    await writeFile(join(gateway.folder, 'routes.yaml'), stringify({ version: 1, ...routes }))
    expect(await gateway.reload()).to.include({ ok: true })
  }

  it('gives its keys its models and tags, and is named in the log', async () => {
    expect(await statusOf(SECRET, 'spare/m')).to.equal(404)
    const reply = await ask(SECRET)
    expect(reply.status).to.equal(200)
    const id = reply.headers.get('x-request-id')!
    expect(await gateway.logged((line) => line.request === id || line.id === id)).to.include({ account: 'research' })
    const look = await program.get(`/requests/${id}`)
    expect(look.body).to.deep.include({ tags: { team: 'vision', floor: '2' } })
  })

  it('gives its keys its class, whose limit keys of the file and of the database share', async () => {
    const { body } = await program.post('/keys', { name: 'app', kind: 'live', account_id: 'vision' })
    const stored = String(body.secret)
    let served = 0
    for (const key of [SHARED, stored, SHARED, stored, SHARED, stored]) if ((await statusOf(key)) === 200) served += 1
    expect(served).to.equal(4)
    expect(await (await ask(stored)).text()).to.include('your account in class team')
  })

  it('is shown with its line, and can only be changed in the file', async () => {
    const { body } = await program.get('/accounts/research')
    expect(body).to.deep.include({
      name: 'research',
      models: ['sandbox/*'],
      rate_class: 'team',
      tags: { team: 'search', floor: '2' },
    })
    expect(body.source).to.match(/^routes\.yaml:\d+$/)
    const { status, body: refusal } = await program.patch('/accounts/research', { models: ['*'] })
    expect([status, refusal.code]).to.deep.equal([409, 'conflict'])
    expect(refusal.message).to.include(`This account is declared in ${body.source}: change it there.`)
    expect((await program.get('/accounts/default')).body).to.include({ source: 'database' })
  })

  it('is listed with its keys', async () => {
    const { data = [] } = (await program.get('/keys?account_id=research')).body
    expect(data[0]).to.deep.include({
      id: 'routes:nightly',
      account: { id: 'research', name: 'research' },
      tags: { team: 'vision' },
    })
    expect(data.map(({ name }) => name)).to.not.include('plain')
  })

  it('rules what the database says of the account with its id, while the file declares it', async () => {
    const key = await gateway.key()
    expect(await statusOf(key, 'spare/m')).to.equal(200)
    await reload({ ...ROUTES, accounts: { ...ROUTES.accounts, default: { models: ['sandbox/*'] } } })
    expect([await statusOf(key, 'spare/m'), await statusOf(key)]).to.deep.equal([404, 200])
    await reload(ROUTES)
    expect(await statusOf(key, 'spare/m')).to.equal(200)
  })

  it('leaves its keys of the database without models when the file no longer declares it', async () => {
    const other = { ...ROUTES, accounts: { ...ROUTES.accounts, passing: {} } }
    await reload(other)
    const key = await gateway.key({ account: 'passing' })
    expect(await statusOf(key)).to.equal(200)
    await reload(ROUTES)
    expect(await statusOf(key)).to.equal(404)
    expect((await program.get('/audit?action=account.create')).body.data).to.have.lengthOf(3)
  })
})

describe('a key of routes.yaml without an account', () => {
  let gateway: TestGateway
  before(async () => {
    gateway = await startTestGateway({ routes: ROUTES })
  })
  after(() => gateway?.stop())

  it('has the models and the class of the account default', async () => {
    const ask = (model: string): Promise<Response> =>
      gateway.fetch('/v1/chat/completions', { key: OTHER, json: { model, messages: [{ role: 'user', content: 'Hi' }] } })
    expect((await ask('spare/m')).status).to.equal(200)
    await editAccount(gateway.store, { id: 'default', models: ['sandbox/*'], rateClass: 'team' }, GATEWAY)
    expect((await ask('spare/m')).status).to.equal(404)
    const reply = await ask('sandbox/m')
    expect(reply.status).to.equal(200)
    expect(reply.headers.get('x-ratelimit-limit-requests')).to.equal('4')
  })
})
