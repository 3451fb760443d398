import { expect } from 'chai'
import { hold, json, type ScriptedUpstream, scriptedUpstream } from '../../../core/testing/kit.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'

/** What a response that is complete has. */
const SAID = [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hi', annotations: [] }] }]

/** What the conversation has that the upstream keeps, in tokens. */
const KEPT = 400_000

const usage = { input_tokens: KEPT, output_tokens: 50, total_tokens: KEPT + 50 }
const response = (id: string): object => ({ id, object: 'response', status: 'completed', output: SAID, usage })

const CLASSES = { classes: { usual: { tokens: '1M/day' } }, default: 'usual' }

describe('a limit of tokens, before calls that go on from what their upstream keeps', () => {
  let upstream: ScriptedUpstream
  let gateway: TestGateway

  beforeEach(async () => {
    upstream = await scriptedUpstream()
  })
  afterEach(async () => {
    await gateway?.stop()
    await upstream?.close()
  })

  const ask = (key: string, members: object = {}) =>
    gateway.fetch('/v1/responses', { key, json: { model: 'up/gpt', input: 'x', max_output_tokens: 100, ...members } })

  for (const [whose, chain, limits] of [
    ['of a key', [{ plugin: 'rate-tagging', config: CLASSES }], {}],
    ['of a namespace', [], { limits: { tokens: '1M/day', wait: '1ms' } }],
  ] as const)
    it(`reserves a tenth of it for each: ${whose}`, async () => {
      const config = { baseUrl: `${upstream.origin}/v1`, responses: true }
      gateway = await startTestGateway({
        routes: {
          chain: [{ plugin: 'auth' }, ...chain],
          namespaces: { up: { provider: 'openai-compatible', breaker: false, config, ...limits } },
        },
      })
      upstream.reply(json(response('resp_1')))
      const { id } = (await (await ask(await gateway.key())).json()) as { id: string }

      const held = hold()
      upstream.on(() => [held, ...json(response('resp_2'))])
      const key = await gateway.key()
      const answered = Promise.withResolvers<void>()
      let refusals = 0
      const statuses = Array.from({ length: 30 }, async () => {
        const { status } = await ask(key, { previous_response_id: id })
        if (status === 429 && ++refusals === 20) answered.resolve()
        return status
      })
      await answered.promise
      held.release()
      const served = (await Promise.all(statuses)).filter((status) => status === 200)
      expect(served.length).to.be.within(1, 10)
      expect(upstream.requests.length).to.equal(1 + served.length)
    })
})
