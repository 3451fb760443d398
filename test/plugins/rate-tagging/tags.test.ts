import { expect } from 'chai'
import { Metrics } from '../../../core/observe/metrics.ts'
import { type Gateway, type GatewayOptions, standard, startGateway } from './gateway.ts'

describe('rate tags', () => {
  let gateway: Gateway | undefined

  afterEach(() => gateway?.close())

  async function start(rest: object, options?: GatewayOptions): Promise<Gateway> {
    gateway = await startGateway(standard({}, rest), options)
    return gateway
  }

  const refusal = (rest: object, options?: GatewayOptions): Promise<string> =>
    start(rest, options).then(
      () => expect.fail('was accepted'),
      (error: Error) => error.message,
    )

  it('contain the key, the account, the rate class and headers of the request', async () => {
    const tags = { caller: '{account}/{key} ({key_id}, {kind})', class: '{class}', team: 'team-{header.X-Team}' }
    const { call } = await start({ tags })
    const { state } = await call({ headers: { 'x-team': 'search' } })
    expect(state.tags).to.deep.equal({ caller: 'acme/laptop (key_1, live)', class: 'standard', team: 'team-search' })
    expect(state.reads).to.equal(0)
  })

  it('are set before the next link runs', async () => {
    const { call } = await start({ tags: { key: '{key}', model: '{model}' } })
    const seen = {}
    await call({ inner: (state) => Object.assign(seen, state.tags), state: { body: { model: 'openai/gpt-x' } } })
    expect(seen).to.deep.equal({ key: 'laptop', model: 'gpt-x' })
  })

  it('are set on a refused call', async () => {
    gateway = await startGateway(standard({ concurrent: 1 }, { tags: { key: '{key}' } }))
    await gateway.call()
    const { status, state } = await gateway.call()
    expect([status, state.tags]).to.deep.equal([429, { key: 'laptop' }])
  })

  it('are omitted if a value is missing or blank', async () => {
    const { call } = await start({ tags: { team: '{header.x-team}' } })
    expect((await call()).state.tags).to.deep.equal({})
    expect((await call({ headers: { 'x-team': ' ' } })).state.tags).to.deep.equal({})
  })

  it('contain at most 64 printable characters of a header', async () => {
    const { call } = await start({ tags: { team: '{header.x-team}' } })
    expect((await call({ headers: { 'x-team': 'x'.repeat(1000) } })).state.tags).to.deep.equal({ team: 'x'.repeat(64) })
    expect((await call({ headers: { 'x-team': 'a\tb\u0085c\u00add' } })).state.tags).to.deep.equal({ team: 'abcd' })
  })

  describe('as labels', () => {
    const config = { tags: { team: '{header.x-team}', app: '{header.x-app}' }, metrics: ['team'] }

    it('count calls and tokens', async () => {
      const { call, samples } = await start(config)
      const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }
      const first = await call({ headers: { 'x-team': 'search', 'x-app': 'a' } })
      await first.state.settle({ usage, cost: { nanoUsd: 2_500_000, price: 'routes.yaml' } })
      const second = await call({ headers: { 'x-team': 'search', 'x-app': 'b' } })
      await second.state.settle({ kind: 'upstream_error' })
      const third = await call()
      await third.state.settle({ usage })
      expect(await samples('umg_tagged_')).to.have.members([
        'umg_tagged_requests_total{team="search"} 2',
        'umg_tagged_requests_total{team=""} 1',
        'umg_tagged_tokens_total{team="search"} 15',
        'umg_tagged_tokens_total{team=""} 15',
        'umg_tagged_cost_usd_total{team="search"} 0.0025',
      ])
    })

    it('survive a reload', async () => {
      const metrics = new Metrics()
      const before = await start(config, { metrics })
      await (await before.call({ headers: { 'x-team': 'search' } })).state.settle()
      await before.close()
      const after = await start(config, { metrics })
      await (await after.call({ headers: { 'x-team': 'search' } })).state.settle()
      expect(await after.samples('umg_tagged_requests_total')).to.deep.equal(['umg_tagged_requests_total{team="search"} 2'])
    })

    it('may change while the gateway runs', async () => {
      const metrics = new Metrics()
      const before = await start(config, { metrics })
      await (await before.call({ headers: { 'x-team': 'search' } })).state.settle()
      await before.close()
      const after = await start({ ...config, metrics: ['app', 'team'] }, { metrics })
      await (await after.call({ headers: { 'x-team': 'search' } })).state.settle()
      expect(await after.samples('umg_tagged_requests_total')).to.deep.equal([
        'umg_tagged_requests_total{team="search",app=""} 2',
      ])
    })
  })

  describe('cannot be', () => {
    for (const name of ['authorization', 'Cookie', 'x-api-key']) {
      it(`the credential ${name}, which the log would show`, async () => {
        expect(await refusal({ tags: { secret: `{header.${name}}` } }))
          .to.include('tags.secret')
          .and.include('credential')
      })
    }

    it('an unknown place', async () => {
      expect(await refusal({ tags: { x: '{modle}' } }))
        .to.include('tags.x')
        .and.include('{modle}')
        .and.include('{model}')
    })

    it('a name that is no valid label of a metric', async () => {
      expect(await refusal({ tags: { 'x-team': 'x' } })).to.include('tags')
    })
  })
})
