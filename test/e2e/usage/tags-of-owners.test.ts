import { expect } from 'chai'
import { json, openaiReply, type ScriptedUpstream, scriptedUpstream } from '../../../core/testing/kit.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'

const routes = (origin: string): string => `version: 1
chain:
  - plugin: auth
  - plugin: rate-tagging
    config:
      classes: { all: { requests: 6000/min } }
      default: all
      tags: { app: "{header.x-app}", cost_center: "{tag.cost_center}" }
      metrics: [team, cost_center]
  - plugin: header-stamping
    config:
      response: { x-team: "{tag.team}", x-cost: "{tag.cost_center}", x-app-tag: "{tag.app}" }
      upstream: { x-for: "{tag.team}" }
namespaces:
  up: { provider: openai-compatible, config: { baseUrl: "${origin}/v1" } }
accounts: { search: { models: ["*"], tags: { team: search } } }
`

describe('the tags of a key and its account', () => {
  let gateway: TestGateway
  let upstream: ScriptedUpstream

  before(async () => {
    upstream = await scriptedUpstream()
    upstream.on(() => json(openaiReply({ text: 'Hi' }).whole))
    gateway = await startTestGateway({ routes: routes(upstream.origin) })
  })

  after(async () => {
    await gateway?.stop()
    await upstream?.close()
  })

  it('reach headers of the reply and of the upstream, and the labels of metrics', async () => {
    const key = await gateway.key({ account: 'search', tags: { cost_center: 'r17' } })
    const messages = [{ role: 'user', content: 'Hi' }]
    const reply = await gateway.fetch('/v1/chat/completions', {
      key,
      json: { model: 'up/m', messages },
      headers: { 'x-app': 'web' },
    })
    expect(Object.fromEntries(['x-team', 'x-cost', 'x-app-tag'].map((name) => [name, reply.headers.get(name)]))).to.deep.equal({
      'x-team': 'search',
      'x-cost': 'r17',
      'x-app-tag': 'web',
    })
    expect(upstream.requests.at(-1)!.headers['x-for']).to.equal('search')
    await gateway.logged(({ id }) => id === reply.headers.get('x-request-id'))
    const metrics = await (await fetch(`${gateway.url}/metrics`)).text()
    expect(metrics).to.match(/^umg_tagged_requests_total\{team="search",cost_center="r17"\} 1$/m)
  })
})
