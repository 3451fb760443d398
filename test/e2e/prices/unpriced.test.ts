import { expect } from 'chai'
import { parse, stringify } from 'yaml'
import { json, openaiReply, type ScriptedUpstream, scriptedUpstream } from '../../../core/testing/kit.ts'
import type { CallView } from '../../../core/usage/calls.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { poll } from '../../support/poll.ts'
import { VendorNetwork } from '../../support/vendor-network.ts'
import { Home } from '../lifecycle/umg.ts'
import { adminClient } from '../usage/api-client.ts'

const USAGE = { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 }

describe('a model without a price, called by a key with a budget,', () => {
  let upstream: ScriptedUpstream
  let gateway: TestGateway

  beforeEach(async () => {
    upstream = await scriptedUpstream()
    upstream.on(() => json(openaiReply({ text: 'Hi.', usage: USAGE }).whole))
  })

  afterEach(async () => {
    await gateway?.stop()
    await upstream?.close()
  })

  async function call(unpriced: unknown) {
    gateway = await startTestGateway({
      routes: {
        chain: [{ plugin: 'auth' }],
        namespaces: { up: { provider: 'openai-compatible', config: { baseUrl: `${upstream.origin}/v1` } } },
        prices: { unpriced },
      },
    })
    const key = await gateway.key({ budgets: ['0.01 USD/month'] })
    const messages = [{ role: 'user', content: 'Hi.' }]
    return gateway.fetch('/v1/chat/completions', { key, json: { model: 'up/new', messages, max_tokens: 100 } })
  }

  it('is refused by default', async () => {
    const reply = await call('refuse')
    expect([reply.status, ((await reply.json()) as { error: { code: string } }).error.code]).to.deep.equal([403, 'price_unknown'])
  })

  it('is served with `serve`: nothing is charged, and the row and a metric say that the cost is unknown', async () => {
    const reply = await call('serve')
    expect(reply.status, await reply.text()).to.equal(200)
    const api = await adminClient(gateway)
    const row = await poll(
      () => api.get(`/requests/${reply.headers.get('x-request-id')}`),
      ({ status }) => status === 200,
    )
    expect((row.json as CallView).cost).to.equal(null)
    expect(await gateway.metric('umg_unpriced_calls_total', { namespace: 'up', model: 'new' })).to.equal(1)
  })

  it('is refused with `estimate` if no vendor of it is known', async () => {
    expect((await call('estimate')).status).to.equal(403)
  })
})

describe('a model of a vendor without a price', () => {
  let network: VendorNetwork
  let home: Home

  beforeEach(async () => {
    network = await VendorNetwork.start({
      'https://api.openai.com/v1': () => json(openaiReply({ text: 'Hi.', usage: USAGE }).whole),
    })
    home = await Home.create({ key: 'none' })
  })

  afterEach(async () => {
    await home?.remove()
    await network?.close()
  })

  const routes = (unpriced: string) =>
    stringify({
      version: 1,
      chain: [{ plugin: 'auth' }],
      namespaces: {
        openai: {
          provider: 'openai-compatible',
          models: ['gpt-99-new', 'gpt-4o'],
          config: { preset: 'openai', apiKey: `\${file:key}` },
        },
      },
      accounts: { research: { budget: '100 USD/day' } },
      prices: { unpriced },
    })

  const NOTICES = {
    refuse: 'so that callers with a budget are refused',
    estimate: 'callers with a budget are charged by the dearest known model of the vendor',
    serve: 'and no budget is charged for them',
  }

  for (const [unpriced, follows] of Object.entries(NOTICES)) {
    it(`is named beforehand with \`${unpriced}\`, by umg validate and at the start of a gateway with budgets`, async () => {
      await home.write('routes.yaml', routes(unpriced))
      const notice = new RegExp(`note: the cost of calls to openai/gpt-99-new is unknown.*${follows}`)
      expect((await home.run(['validate']).ended).stdout).to.match(notice)
      const { umg } = await home.start()
      await umg.prints(notice, 'stderr')
    })
  }

  it('is named at the start too if the only budget is that of a key in the database', async () => {
    const { accounts: _, ...table } = parse(routes('refuse'))
    await home.write('routes.yaml', stringify(table))
    await home.run(['keys', 'create', '--name', 'k', '--budget', '100 USD/day']).ended
    const umg = home.run(['start', '--port', '0'], { env: network.env })
    await umg.prints(/the cost of calls to openai\/gpt-99-new is unknown/, 'stderr')
  })

  it('is charged by the dearest model of the vendor with `estimate`', async () => {
    await home.write('routes.yaml', routes('estimate'))
    const secret = (await home.run(['keys', 'create', '--name', 'k', '--budget', '100 USD/day']).ended).stdout.trim()
    const umg = home.run(['start', '--port', '0'], { env: network.env })
    const [, url] = await umg.prints(/^listening on (\S+)$/m)
    const reply = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'openai/gpt-99-new', messages: [{ role: 'user', content: 'Hi.' }], max_tokens: 100 }),
    })
    expect(reply.status, await reply.text()).to.equal(200)
    const rows = await poll(
      async () => (await home.run(['spend', '--group', 'price', '--json']).ended).stdout,
      (text) => text.includes('estimate by genai-prices'),
    )
    // 1000 × 150 + 100 × 600, of o1-pro
    expect(rows).to.contain('openai/o1-pro').and.to.contain('0.21')
  })
})
