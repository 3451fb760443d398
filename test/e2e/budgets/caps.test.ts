import { expect } from 'chai'
import { json, type ScriptedUpstream, scriptedUpstream } from '../../../core/testing/kit.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'

const GPT_4O = { like: 'openai/gpt-4o' }

describe('the cap that a budget adds to a call', () => {
  let upstream: ScriptedUpstream
  let gateway: TestGateway
  let key: string

  before(async () => {
    upstream = await scriptedUpstream()
    upstream.on(() => json({ error: { message: 'No.' } }, { status: 400 }))
    const { origin } = upstream
    const compatible = (more: object) => ({
      provider: 'openai-compatible',
      config: { baseUrl: `${origin}/v1`, responses: true, ...more },
    })
    const apiKey = `\${env:TEST_KEY}`
    gateway = await startTestGateway({
      routes: {
        chain: [{ plugin: 'auth' }],
        namespaces: {
          own: compatible({}),
          openai: compatible({ preset: 'openai' }),
          mistral: compatible({ preset: 'mistral' }),
          ollama: { provider: 'ollama', config: { baseUrl: origin } },
          anthropic: { provider: 'anthropic', config: { baseUrl: origin, apiKey } },
          gemini: { provider: 'gemini', config: { baseUrl: origin, apiKey } },
          cohere: { provider: 'cohere', config: { baseUrl: origin, apiKey } },
          azure: { provider: 'azure-openai', config: { baseUrl: origin, apiKey } },
          acme: { models: { capped: { targets: [{ model: 'own/m' }], defaults: { max_tokens: 77 } } } },
        },
        prices: {
          models: {
            'anthropic/*': { like: 'anthropic/claude-opus-4-1' },
            'gemini/*': { like: 'google/gemini-2.5-pro' },
            'own/m': { input: 1, output: 1 },
            'own/*': GPT_4O,
            'openai/*': GPT_4O,
            'azure/*': GPT_4O,
            'mistral/*': { like: 'mistral/mistral-large-latest' },
            'ollama/*': { input: 1, output: 1 },
            'cohere/*': { input: 1, output: 1 },
          },
        },
      },
      env: { TEST_KEY: 'key' },
    })
    key = await gateway.key({ budgets: ['1000 USD/day'] })
  })

  after(async () => {
    await gateway?.stop()
    await upstream?.close()
  })

  const CHAT = { messages: [{ role: 'user', content: 'Hi.' }] }

  /** What the upstream gets. */
  async function sent(path: string, body: object): Promise<string> {
    const reply = await gateway.fetch(path, { key, json: body })
    expect(reply.status, await reply.text()).to.equal(400)
    return upstream.requests.at(-1)!.body.toString()
  }

  for (const [model, path, text] of [
    ['own/gpt', '/v1/chat/completions', '"max_tokens":16384'],
    ['own/m', '/v1/chat/completions', '"max_tokens":4096'],
    ['openai/gpt', '/v1/chat/completions', '"max_completion_tokens":16384'],
    ['azure/gpt', '/v1/chat/completions', '"max_completion_tokens":16384'],
    ['mistral/m', '/v1/chat/completions', '"max_tokens":4096'],
    ['ollama/m', '/v1/chat/completions', '"num_predict":4096'],
    ['anthropic/claude', '/v1/chat/completions', '"max_tokens":32000'],
    ['gemini/gemini', '/v1/chat/completions', '"maxOutputTokens":65535'],
    ['cohere/m', '/v1/chat/completions', '"max_tokens":4096'],
    ['openai/gpt', '/v1/responses', '"max_output_tokens":16384'],
    ['anthropic/claude', '/v1/responses', '"max_tokens":32000'],
    ['own/gpt', '/v1/completions', '"max_tokens":16384'],
  ] as const) {
    it(`is the maximum of the model, as its upstream takes it: ${path} ${model}`, async () => {
      const input = { '/v1/chat/completions': CHAT, '/v1/responses': { input: 'Hi.' }, '/v1/completions': { prompt: 'Hi.' } }[
        path
      ]
      expect(await sent(path, { model, ...input })).to.contain(text)
    })
  }

  it('is not added to a call, or a route, that has one', async () => {
    expect(await sent('/v1/chat/completions', { model: 'openai/gpt', max_tokens: 5, ...CHAT })).not.to.contain(
      'max_completion_tokens',
    )
    expect(await sent('/v1/chat/completions', { model: 'acme/capped', ...CHAT })).to.contain('"max_tokens":77')
  })

  it('leaves all other bytes as they are', async () => {
    const body = '{ "model": "own/gpt", "seed": 12345678901234567890, "messages": [ {"role":"user","content":"Hi."} ] }'
    const headers = { 'content-type': 'application/json' }
    await (await gateway.fetch('/v1/chat/completions', { key, method: 'POST', body, headers })).text()
    const expected = body.replace('{', '{"max_tokens":16384,').replace('"own/gpt"', '"gpt"')
    expect(upstream.requests.at(-1)!.body.toString()).to.equal(expected)
  })
})
