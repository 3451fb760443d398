import { expect } from 'chai'
import type { Usage } from 'unified-model-gateway/plugin'
import { json, type ScriptedUpstream, scriptedUpstream, sse } from 'unified-model-gateway/plugin/testing'
import { openai, USAGE_EVENT } from '../../e2e/sdk/openai-dialect.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'

const MESSAGES = [{ role: 'user' as const, content: 'Hello' }]

const usageOf = (completion_tokens: number, total_tokens: number, reasoning_tokens?: unknown) => ({
  prompt_tokens: 12,
  completion_tokens,
  total_tokens,
  prompt_tokens_details: { cached_tokens: 11 },
  ...(reasoning_tokens !== undefined && { completion_tokens_details: { reasoning_tokens } }),
})

describe('a reply of xAI, which counts reasoning beside completion_tokens', () => {
  let upstream: ScriptedUpstream
  let gateway: TestGateway

  before(async () => {
    upstream = await scriptedUpstream()
    const config = { preset: 'xai', baseUrl: `${upstream.origin}/v1` }
    gateway = await startTestGateway({
      routes: { chain: [{ plugin: 'auth' }], namespaces: { xai: { provider: 'openai-compatible', config } } },
    })
  })

  after(async () => {
    await gateway?.stop()
    await upstream?.close()
  })

  /** What the client reads, and what the gateway writes down. */
  async function toldAndLogged(usage: object, stream: boolean) {
    const said = { text: ['Hello'] }
    const events = openai.events(said).map((one) => (one === USAGE_EVENT ? { choices: [], usage } : one))
    upstream.reply(stream ? sse(events) : json({ ...openai.whole(said), usage }))
    const request = { model: 'xai/grok-3-mini', messages: MESSAGES }
    const client = gateway.openai().chat.completions
    let told: unknown
    let id: string | null
    if (stream) {
      const reply = await client.create({ ...request, stream, stream_options: { include_usage: true } }).withResponse()
      for await (const chunk of reply.data) told = chunk.usage ?? told
      id = reply.request_id
    } else {
      const reply = await client.create(request).withResponse()
      told = reply.data.usage
      id = reply.request_id
    }
    const { tokens } = await gateway.logged((line) => line.id === id && 'tokens' in line)
    return { told: told as Usage, tokens }
  }

  for (const stream of [false, true]) {
    const how = stream ? 'streamed' : 'whole'

    it(`counts it for the client and in the log: ${how}`, async () => {
      const usage = usageOf(1, 303, 290)
      const { told, tokens } = await toldAndLogged(usage, stream)
      expect(told).to.deep.equal({ ...usage, completion_tokens: 291 })
      expect(tokens).to.include({ input: 12, output: 291 })
    })

    for (const [name, usage] of Object.entries({
      'of a model that does not reason': usageOf(7, 19, 0),
      'that tells no reasoning': usageOf(7, 19),
      'whose completion includes it': usageOf(291, 303, 290),
      'whose total is another': usageOf(1, 999, 290),
      'whose reasoning is no number': usageOf(1, 303, '290'),
    })) {
      it(`leaves a usage ${name} as it is: ${how}`, async () => {
        const { told, tokens } = await toldAndLogged(usage, stream)
        expect(told).to.deep.equal(usage)
        expect(tokens).to.include({ output: usage.completion_tokens })
      })
    }
  }
})
