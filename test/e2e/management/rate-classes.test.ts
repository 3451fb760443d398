import { expect } from 'chai'
import { createAccount } from '../../../core/accounts/accounts.ts'
import { GATEWAY } from '../../../core/accounts/audit.ts'
import { createKey } from '../../../core/keys/keys.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { ApiClient, type ApiReply } from './api-client.ts'

const CLASSES = { standard: { requests: '60/min' }, batch: { tokens: '5M/day' } }

describe('a rate class that routes.yaml does not declare', () => {
  let gateway: TestGateway
  let program: ApiClient
  before(async () => {
    const tagging = { plugin: 'rate-tagging', config: { classes: CLASSES, default: 'standard' } }
    gateway = await startTestGateway({
      routes: { chain: [{ plugin: 'auth' }, tagging], namespaces: { sandbox: { provider: 'sandbox' } } },
    })
    program = new ApiClient(gateway.url, await gateway.key({ kind: 'admin' }))
  })
  after(() => gateway?.stop())

  const KEY = { name: 'laptop', kind: 'live' }
  const ACCOUNT = { name: 'Acme', models: ['*'] }
  const idOf = async (path: string, fields: object) => (await program.post(path, fields)).body.id as string

  for (const [what, send] of [
    ['a new key', (fields) => program.post('/keys', { ...KEY, ...fields })],
    ['a key', async (fields) => program.patch(`/keys/${await idOf('/keys', KEY)}`, fields)],
    ['a new account', (fields) => program.post('/accounts', { ...ACCOUNT, ...fields })],
    ['an account', async (fields) => program.patch(`/accounts/${await idOf('/accounts', ACCOUNT)}`, fields)],
  ] satisfies readonly [string, (fields: object) => Promise<ApiReply>][])
    it(`is refused for ${what}; the error names the declared ones`, async () => {
      const { status, body } = await send({ rate_class: 'bacth' })
      expect([status, body.code, body.param]).to.deep.equal([400, 'invalid_value', 'rate_class'])
      expect(body.message).to.include('did you mean "batch"?').and.include('routes.yaml declares standard, batch.')
      expect((await send({ rate_class: 'toString' })).status).to.equal(400)
      expect((await send({ rate_class: 'batch' })).body).to.include({ rate_class: 'batch' })
      expect((await send({ rate_class: null })).body).to.include({ rate_class: null })
    })

  it('is kept by a key that has it, which can be changed, rotated, and given another class', async () => {
    const { key } = await createKey(gateway.store, { name: 'old', kind: 'live', rateClass: 'retired' })
    const patch = async (fields: object) => (await program.patch(`/keys/${key.id}`, fields)).body
    expect(await patch({ name: 'renamed', rate_class: 'retired' })).to.include({ name: 'renamed', rate_class: 'retired' })
    const { body } = await program.post(`/keys/${key.id}/rotate`, { overlap_seconds: 60 })
    expect(body).to.include({ replaces: key.id, rate_class: 'retired' })
    expect(await patch({ rate_class: 'batch' })).to.include({ rate_class: 'batch' })
    expect(await patch({ rate_class: 'retired' })).to.include({ param: 'rate_class' })
  })

  it('is kept by an account that has it', async () => {
    const { id } = await createAccount(gateway.store, { ...ACCOUNT, rateClass: 'retired' }, GATEWAY)
    const { body } = await program.patch(`/accounts/${id}`, { name: 'Acme Ltd', rate_class: 'retired' })
    expect(body).to.include({ name: 'Acme Ltd', rate_class: 'retired' })
  })
})
