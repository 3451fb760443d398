import { expect } from 'chai'
import { json, type ScriptedUpstream, scriptedUpstream } from '../../../../core/testing/kit.ts'
import { startTestGateway, type TestGateway } from '../../../support/gateway.ts'
import { openai } from '../../sdk/openai-dialect.ts'

/** The five targets of a route, by their place in it. */
const ROUTES = {
  'five targets': { targets: ['m1', 'm2', 'm3', 'm4', 'm5'], fallbacks: [] },
  'one target and four fallbacks': { targets: ['m1'], fallbacks: ['m2', 'm3', 'm4', 'm5'] },
} as const

describe('A storm of 429s', () => {
  let upstream: ScriptedUpstream
  let gateway: TestGateway
  /** The seconds that each model's refusals ask for; a model without an entry answers. */
  let waits: Map<string, number>

  const namespaceOf = (model: string): string => `vendor-${model}`

  beforeEach(async () => {
    waits = new Map()
    upstream = await scriptedUpstream()
    upstream.on(({ json: body }) => {
      const wait = waits.get((body() as { readonly model: string }).model)
      if (wait === undefined) return json(openai.whole({ text: ['Hi'] }))
      return json(openai.error(429, 'Rate limit reached.'), { status: 429, headers: { 'retry-after': String(wait) } })
    })
    const vendor = { provider: 'openai-compatible', config: { baseUrl: `${upstream.origin}/v1` } }
    const all = ['m1', 'm2', 'm3', 'm4', 'm5']
    const models = Object.entries(ROUTES).map(([name, { targets, fallbacks }]) => [
      name.replaceAll(' ', '-'),
      {
        targets: targets.map((model) => ({ model: `${namespaceOf(model)}/${model}` })),
        fallbacks: fallbacks.map((model) => `${namespaceOf(model)}/${model}`),
      },
    ])
    gateway = await startTestGateway({
      routes: {
        chain: [{ plugin: 'auth' }, { plugin: 'header-stamping' }],
        namespaces: {
          ...Object.fromEntries(all.map((model) => [namespaceOf(model), vendor])),
          acme: { models: Object.fromEntries(models) },
        },
      },
    })
  })
  afterEach(async () => {
    await gateway?.stop()
    await upstream?.close()
  })

  const refuse = (seconds: Readonly<Record<string, number>>): void => {
    waits = new Map(Object.entries(seconds))
  }

  async function call(route: string) {
    const before = upstream.requests.length
    const reply = await gateway.fetch('/v1/chat/completions', {
      json: { model: `acme/${route.replaceAll(' ', '-')}`, messages: [{ role: 'user', content: 'Hi' }] },
    })
    await reply.body?.cancel()
    return {
      status: reply.status,
      retryAfter: reply.headers.get('retry-after'),
      shouldRetry: reply.headers.get('x-should-retry'),
      requests: upstream.requests.length - before,
    }
  }

  for (const route of Object.keys(ROUTES)) {
    it(`from ${route} costs one request for each call, and clients are asked to wait`, async () => {
      refuse({ m1: 50, m2: 50, m3: 50, m4: 50, m5: 50 })
      // The first two calls learn which targets refuse.
      for (let count = 0; count < 2; count++) expect(await call(route)).to.include({ status: 429 })
      for (let count = 0; count < 10; count++) {
        const { retryAfter, ...reply } = await call(route)
        expect(reply).to.deep.equal({ status: 429, shouldRetry: null, requests: 1 })
        expect(Number(retryAfter)).to.be.within(30, 50)
      }
    })
  }

  it('names the shortest time to wait, also of targets that this call did not ask', async () => {
    refuse({ m1: 50, m2: 50, m3: 50, m4: 20, m5: 50 })
    const route = 'one target and four fallbacks'
    for (let count = 0; count < 2; count++) await call(route)
    const { retryAfter, requests } = await call(route)
    expect(requests).to.equal(1)
    expect(Number(retryAfter)).to.be.within(1, 20)
  })

  it('is over for a call as soon as one target serves: a target that cools down is a preference', async () => {
    refuse({ m1: 50, m2: 50, m3: 50, m4: 50, m5: 50 })
    const route = 'one target and four fallbacks'
    for (let count = 0; count < 3; count++) await call(route)
    refuse({})
    expect(await call(route)).to.include({ status: 200, requests: 1 })
  })
})
