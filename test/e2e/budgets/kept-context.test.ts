import { expect } from 'chai'
import { json, type ScriptedUpstream, scriptedUpstream } from '../../../core/testing/kit.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'

/** What a response that is complete has. */
const SAID = [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hi', annotations: [] }] }]

/** What the conversation has that the upstream keeps, in tokens: at 5 USD a million, 2 USD. */
const KEPT = 400_000

const routes = (origin: string): string => `version: 1
chain: [{ plugin: auth }]
namespaces:
  up: { provider: openai-compatible, config: { baseUrl: "${origin}/v1", responses: true } }
  open: { provider: openai-compatible, keptObjects: allow, config: { baseUrl: "${origin}/v1", responses: true } }
prices:
  models: { "*/*": { input: 5, output: 20 } }
`

describe('a budget, before calls that go on from what their upstream keeps', () => {
  let gateway: TestGateway
  let upstream: ScriptedUpstream
  let count = 0

  before(async () => {
    upstream = await scriptedUpstream()
    upstream.on(({ json: body }) => {
      const { previous_response_id: previous } = body() as { previous_response_id?: string }
      const [input_tokens, output_tokens] = [previous === undefined ? KEPT : KEPT + 100, 50]
      const usage = { input_tokens, output_tokens, total_tokens: input_tokens + output_tokens }
      return json({ id: `resp_${++count}`, object: 'response', status: 'completed', output: SAID, usage })
    })
    gateway = await startTestGateway({ routes: routes(upstream.origin) })
  })

  after(async () => {
    await gateway?.stop()
    await upstream?.close()
  })

  const ask = (key: string, members: object = {}) =>
    gateway.fetch('/v1/responses', { key, json: { model: 'up/gpt', input: 'x', max_output_tokens: 100, ...members } })

  it('reserves its tokens: of thirty calls at once, none is sent that the budget does not pay for', async () => {
    const first = await ask(await gateway.key())
    const { id } = (await first.json()) as { id: string }
    const key = await gateway.key({ budgets: ['4.50 USD/day'] })
    const sent = upstream.requests.length
    const replies = await Promise.all(Array.from({ length: 30 }, () => ask(key, { previous_response_id: id })))
    const served = replies.filter(({ status }) => status === 200).length
    expect(replies.filter(({ status }) => status !== 200).map(({ status }) => status)).to.deep.equal(Array(30 - served).fill(429))
    // Each costs some 2.0 USD.
    expect(served).to.equal(2)
    expect(upstream.requests.length - sent).to.equal(2)
  })

  it('reserves a whole context window where the id does not say how many there are', async () => {
    const { id } = (await (await ask(await gateway.key())).json()) as { id: string }
    const old = id.replace(/\.umg\d+\./, '.umg')
    const reply = await ask(await gateway.key({ budgets: ['0.01 USD/day'] }), { previous_response_id: old })
    expect(reply.status).to.equal(429)
  })

  for (const members of [
    { conversation: 'conv_1' },
    { prompt: { id: 'pmpt_1' } },
    { input: [{ role: 'user', content: [{ type: 'input_file', file_id: 'file_1' }] }] },
    { tools: [{ type: 'file_search', vector_store_ids: ['vs_1'] }] },
  ])
    it(`reserves a whole context window for what the operator lets calls refer to: ${JSON.stringify(members)}`, async () => {
      const key = await gateway.key({ budgets: ['0.01 USD/day'] })
      const sent = upstream.requests.length
      const { status } = await ask(key, { model: 'open/gpt', ...members })
      expect([status, upstream.requests.length - sent]).to.deep.equal([429, 0])
    })
})
