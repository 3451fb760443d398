import { expect } from 'chai'
import { json, type ScriptedUpstream, scriptedUpstream, sse } from '../../../core/testing/kit.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { named, response } from '../responses/fixture.ts'

/** What an upstream says that answers later. */
const QUEUED = { ...response('Hi'), status: 'queued', output: [], usage: null }

describe('A response that its upstream has yet to make', () => {
  let upstream: ScriptedUpstream
  let gateway: TestGateway
  let key: string

  beforeEach(async () => {
    upstream = await scriptedUpstream()
    gateway = await startTestGateway({
      routes: {
        chain: [{ plugin: 'auth' }],
        namespaces: {
          up: { provider: 'openai-compatible', breaker: false, config: { baseUrl: `${upstream.origin}/v1`, responses: true } },
        },
        prices: { models: { 'up/m': { input: 0, output: 1000 }, 'up/seeing': { input: 1000, output: 0 } } },
      },
    })
    // Three calls of 1,000 tokens, at 0.001 USD each.
    key = await gateway.key({ budgets: ['3 USD/day'] })
  })
  afterEach(async () => {
    await gateway?.stop()
    await upstream?.close()
  })

  const ask = async (more: object = {}): Promise<{ status: number; text: string }> => {
    const reply = await gateway.fetch('/v1/responses', {
      key,
      json: { model: 'up/m', input: 'Write a book', max_output_tokens: 1000, ...more },
    })
    return { status: reply.status, text: await reply.text() }
  }

  it('cannot be asked for', async () => {
    const { status, text } = await ask({ background: true })
    expect([status, upstream.requests.length]).to.deep.equal([400, 0])
    expect(JSON.parse(text).error).to.include({ code: 'unsupported_parameter', param: 'background' })
    expect(text).to.include('ask for a stream')
  })

  for (const [way, reply] of [
    ['whole', json(QUEUED)],
    ['streamed', sse([named('response.completed', { sequence_number: 0, response: QUEUED })])],
  ] as const) {
    it(`costs all that it may use, ${way}`, async () => {
      const statuses: number[] = []
      for (let call = 0; call < 5; call++) {
        upstream.reply(reply)
        statuses.push((await ask({ stream: way === 'streamed' })).status)
      }
      expect(statuses).to.deep.equal([200, 200, 200, 429, 429])
    })
  }

  it('costs what was reserved for its prompt: a picture at the largest price', async () => {
    // Two calls of 16,384 tokens, at 0.001 USD each, and some for the text.
    key = await gateway.key({ budgets: ['40 USD/day'] })
    const picture = { type: 'input_image', image_url: 'data:image/png;base64,iVBORw0KGgo=' }
    const statuses: number[] = []
    for (let call = 0; call < 4; call++) {
      upstream.reply(json(QUEUED))
      statuses.push((await ask({ model: 'up/seeing', input: [{ role: 'user', content: [picture] }] })).status)
    }
    expect(statuses).to.deep.equal([200, 200, 429, 429])
  })
})
