import { expect } from 'chai'
import { createCallWriter } from '../../../core/usage/call-writer.ts'
import type { CallView } from '../../../core/usage/calls.ts'
import { callRowOf } from '../../core/usage/outcome.ts'
import { onEachDatabase } from '../../support/databases.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { type ApiClient, adminClient, memberClient } from './api-client.ts'

/** A model that only members of the other account may see. */
const SECRET = 'theirs/secret-model'

const NOW = Date.now()
const MONTH = new Date(NOW).toISOString().slice(0, 7)

onEachDatabase('a member of one account', (create) => {
  let gateway: TestGateway
  let admin: ApiClient
  let ours: ApiClient
  let account: string
  let others: string
  let theirCall: string

  before(async () => {
    gateway = await startTestGateway({ routes: { chain: [{ plugin: 'auth' }], namespaces: {} }, database: await create() })
    admin = await adminClient(gateway)
    const [us, them] = [await memberClient(gateway, 'Us'), await memberClient(gateway, 'Them')]
    ours = us.api
    account = us.account
    others = them.account
    const cost = { nanoUsd: 20_000_000, price: 'their price' }
    const theirs = callRowOf({
      at: NOW,
      outcome: { cost },
      number: 2,
      account: others,
      model: SECRET,
      key: 'key_theirs',
      tags: { team: 'secret-team' },
    })
    theirCall = theirs.id
    const writer = createCallWriter(gateway.store)
    await writer.write([
      callRowOf({ at: NOW, number: 1, account, model: 'ours/model', outcome: { cost: { ...cost, price: 'our price' } } }),
      theirs,
    ])
  })

  after(() => gateway?.stop())

  for (const path of [
    '/requests',
    '/requests.csv',
    '/requests.jsonl',
    '/usage?group=model',
    '/usage?group=account',
    '/usage?group=key',
    '/usage?group=tag:team',
    '/usage.csv?group=model',
    '/spend?group=model',
    '/spend?group=account',
    '/spend?group=key',
    '/spend?group=price',
    '/spend?group=tag:team',
    '/spend.csv?group=model',
    '/spend.jsonl?group=price',
    `/statement?month=${MONTH}`,
  ]) {
    it(`sees no call of another account at ${path}, where an admin sees all`, async () => {
      const [seen, all] = [await ours.get(path), await admin.get(path)]
      expect([seen.status, all.status]).to.deep.equal([200, 200])
      expect(seen.text).not.to.match(/secret|their|Them/)
      expect(all.text).to.match(/secret|their|Them/)
    })
  }

  it('sees the calls of their account', async () => {
    const { data } = (await ours.get('/requests')).json as { data: CallView[] }
    expect(data.map(({ model, account }) => [model, account])).to.deep.equal([['ours/model', { id: account, name: 'Us' }]])
    expect((await ours.get(`/requests?account_id=${account}`)).status).to.equal(200)
    const usage = (await ours.get('/usage?group=model')).json as { totals: { requests: number } }
    expect(usage.totals.requests).to.equal(1)
    const spend = (await ours.get('/spend?group=day')).json as { totals: { cost_usd: string } }
    expect(spend.totals.cost_usd).to.equal('0.02')
    const statement = (await ours.get(`/statement?month=${MONTH}`)).json as { total_usd: string; lines: { name: string }[] }
    expect([statement.total_usd, statement.lines.map(({ name }) => name)]).to.deep.equal(['0.02', ['ours/model']])
  })

  it('gets the same reply for a call of another account as for one that does not exist', async () => {
    const [theirs, nobodys] = await Promise.all([ours.get(`/requests/${theirCall}`), ours.get('/requests/req_nothing')])
    expect([theirs.status, theirs.text]).to.deep.equal([404, nobodys.text])
    const { data } = (await ours.get(`/requests?q=${theirCall}`)).json as { data: CallView[] }
    expect(data).to.deep.equal([])
    expect((await admin.get(`/requests/${theirCall}`)).status).to.equal(200)
  })

  it('cannot request another account', async () => {
    for (const path of [
      '/requests?',
      '/requests.csv?',
      '/requests.jsonl?',
      '/usage?group=model&',
      '/usage.csv?group=model&',
      '/spend?group=model&',
      '/spend.csv?group=model&',
      '/spend.jsonl?group=model&',
      `/statement?month=${MONTH}&`,
    ])
      expect((await ours.get(`${path}account_id=${others}`)).status, path).to.equal(404)
  })

  it('sees the same as an admin who requests one account', async () => {
    const { data } = (await admin.get(`/requests?account_id=${account}`)).json as { data: CallView[] }
    expect(data.map(({ model }) => model)).to.deep.equal(['ours/model'])
  })
})
