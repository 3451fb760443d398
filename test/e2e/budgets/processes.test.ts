import { expect } from 'chai'
import { stringify } from 'yaml'
import { createSecret } from '../../../core/keys/format.ts'
import { digestOf } from '../../../core/text/ids.ts'
import { until } from '../../support/poll.ts'
import { Cluster } from '../processes/cluster.ts'
import { type PricedUpstream, pricedUpstream } from './fixture.ts'

describe('the budget of a key of routes.yaml', () => {
  let priced: PricedUpstream
  let cluster: Cluster | undefined

  beforeEach(async () => {
    priced = await pricedUpstream()
  })

  afterEach(async () => {
    await cluster?.stop()
    await priced?.close()
  })

  it('is shared by all processes, and is kept when one of them crashes', async () => {
    const secret = createSecret('live')
    const key = { name: 'nightly', hash: `sha256:${digestOf(secret)}`, kind: 'live', models: ['*'], budget: '1 USD/day' }
    const routes = stringify({ version: 1, ...priced.routes({ keys: [key] }) })
    cluster = await Cluster.start({ 'routes.yaml': routes })
    const headers = { authorization: `Bearer ${secret}` }
    /** On a connection of its own: calls reach all proxies in turn. */
    const call = async (): Promise<number> => {
      const reply = await cluster!.call('Hi.', { model: 'up/call', headers, close: true })
      await reply.text()
      return reply.status
    }
    let served = 0
    await until(async () => {
      served += (await Promise.all([call(), call(), call()])).filter((status) => status === 200).length
      return served >= 4
    })
    expect(served).to.equal(4)
    await cluster.crash('proxy-1')
    await cluster.crash('control')
    await until(async () => (await fetch(`${cluster!.url}/metrics`)).status === 200)
    expect(await Promise.all([call(), call(), call(), call()])).to.deep.equal([429, 429, 429, 429])
  })
})
