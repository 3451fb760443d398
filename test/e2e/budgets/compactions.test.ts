import { expect } from 'chai'
import { createKey } from '../../../core/keys/keys.ts'
import { type BudgetGateway, type PricedUpstream, pricedUpstream, startBudgetGateway } from './fixture.ts'

describe('budgets, and conversations that are compacted', () => {
  let priced: PricedUpstream
  let started: BudgetGateway

  before(async () => {
    priced = await pricedUpstream()
    started = await startBudgetGateway({ routes: priced.routes() })
  })
  after(async () => {
    await started?.gateway.stop()
    await priced?.close()
  })

  const post = async (path: string, key: string, model: string): Promise<number> =>
    (await started.gateway.fetch(path, { key, json: { model, input: 'Hi.' } })).status

  it('pay for each compaction, and none is made when nothing is left', async () => {
    const { secret } = await createKey(started.gateway.store, { name: 'ci', kind: 'live', budgets: ['0.50 USD/day'] })
    const statuses: number[] = []
    for (let call = 0; call < 3; call++) statuses.push(await post('/v1/responses/compact', secret, 'up/call'))
    expect(statuses).to.deep.equal([200, 200, 429])
  })

  it('reserve the most that a summary may cost, which no member of the call bounds', async () => {
    const { store } = started.gateway
    const { secret } = await createKey(store, { name: 'small', kind: 'live', budgets: ['10 USD/day'] })
    const before = priced.upstream.requests.length
    expect(await post('/v1/responses/compact', secret, 'up/token')).to.equal(429)
    expect(priced.upstream.requests.length).to.equal(before)
    const { secret: large } = await createKey(store, { name: 'large', kind: 'live', budgets: ['20 USD/day'] })
    expect(await post('/v1/responses/compact', large, 'up/token')).to.equal(200)
  })

  it('pay nothing for a count of tokens', async () => {
    const { secret } = await createKey(started.gateway.store, { name: 'none', kind: 'live', budgets: ['0.01 USD/day'] })
    expect(await post('/v1/responses/input_tokens', secret, 'up/call')).to.equal(200)
  })
})
