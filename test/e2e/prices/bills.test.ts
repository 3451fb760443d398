// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${…} is the syntax of routes.yaml
import { expect } from 'chai'
import { stringify } from 'yaml'
import { createSecret } from '../../../core/keys/format.ts'
import { json, type RequestHandler } from '../../../core/testing/kit.ts'
import { digestOf } from '../../../core/text/ids.ts'
import { VendorNetwork } from '../../support/vendor-network.ts'
import { Home } from '../lifecycle/umg.ts'
import { GOOGLE_TOKENS, KEYS } from '../vendors/as-shipped.ts'

/** A call by list prices: what its vendor reports, and what it costs, computed by hand. */
interface Example {
  readonly what: string
  /** `<namespace>/<model>` */
  readonly model: string
  readonly reply: object
  readonly usd: string
}

const openai = (prompt: number, completion: number, more: object = {}) => ({
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion, ...more },
})

const claude = (usage: object) => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content: [{ type: 'text', text: 'Hello.' }],
  stop_reason: 'end_turn',
  usage,
})

/** A thousand tokens of each class. */
const CLAUDE = claude({
  input_tokens: 1000,
  output_tokens: 1000,
  cache_read_input_tokens: 1000,
  cache_creation_input_tokens: 2000,
  cache_creation: { ephemeral_5m_input_tokens: 1000, ephemeral_1h_input_tokens: 1000 },
})

/** The same from Converse. */
const CONVERSE = {
  output: { message: { role: 'assistant', content: [{ text: 'Hello.' }] } },
  stopReason: 'end_turn',
  usage: {
    inputTokens: 1000,
    outputTokens: 1000,
    totalTokens: 5000,
    cacheReadInputTokens: 1000,
    cacheWriteInputTokens: 2000,
    cacheDetails: [
      { ttl: '5m', inputTokens: 1000 },
      { ttl: '1h', inputTokens: 1000 },
    ],
  },
}

const gemini = (usageMetadata: object) => ({
  candidates: [{ content: { role: 'model', parts: [{ text: 'Hello.' }] }, finishReason: 'STOP' }],
  usageMetadata,
})

const OPENAI = { preset: 'openai', apiKey: '${env:TEST_KEY}' }
const VERTEX = { project: 'acme-ai', credentials: '${env:TEST_ACCOUNT}' }

const NAMESPACES = {
  anthropic: { provider: 'anthropic', config: { apiKey: '${env:TEST_KEY}' } },
  bedrock: { provider: 'bedrock', config: { region: 'us-east-1', apiKey: '${env:TEST_KEY}' } },
  gemini: { provider: 'gemini', config: { apiKey: '${env:TEST_KEY}' } },
  openai: { provider: 'openai-compatible', config: OPENAI },
  'openai-eu': { provider: 'openai-compatible', config: { ...OPENAI, baseUrl: 'https://eu.api.openai.com/v1' } },
  vertex: { provider: 'vertex', config: VERTEX },
  'vertex-us': { provider: 'vertex', config: { ...VERTEX, region: 'us-east5' } },
  'vertex-eu': { provider: 'vertex', config: { ...VERTEX, region: 'eu' } },
}

const CACHED = { prompt_tokens_details: { cached_tokens: 1000 } }

const EXAMPLES: readonly Example[] = [
  // 1000 × (4 + 0.2 + 5 + 8 + 20)
  {
    what: 'cache writes of 5 minutes and of an hour at Anthropic',
    model: 'anthropic/claude-opus-5-5',
    reply: CLAUDE,
    usd: '0.0372',
  },
  // 1000 × (3 + 0.3 + 3.75 + 6 + 15)
  {
    what: 'the same on Bedrock, at the global profile',
    model: 'bedrock/global.anthropic.claude-sonnet-4-5-20250929-v1:0',
    reply: CONVERSE,
    usd: '0.02805',
  },
  // 1000 × (3.3 + 0.33 + 4.125 + 6.6 + 16.5)
  {
    what: 'the same on Bedrock, at a regional profile',
    model: 'bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0',
    reply: CONVERSE,
    usd: '0.030855',
  },
  {
    what: 'the same on Bedrock, in one region',
    model: 'bedrock/anthropic.claude-sonnet-4-5-20250929-v1:0',
    reply: CONVERSE,
    usd: '0.030855',
  },
  { what: 'the same on Vertex AI, at the global endpoint', model: 'vertex/claude-sonnet-4-5', reply: CLAUDE, usd: '0.02805' },
  { what: 'the same on Vertex AI, in a region', model: 'vertex-us/claude-sonnet-4-5@20250929', reply: CLAUDE, usd: '0.030855' },
  {
    what: 'the same on Vertex AI, in a multi-region',
    model: 'vertex-eu/anthropic/claude-sonnet-4-5',
    reply: CLAUDE,
    usd: '0.030855',
  },
  {
    what: 'US-only inference at Anthropic',
    model: 'anthropic/claude-opus-5-5',
    reply: claude({ input_tokens: 1000, output_tokens: 1000, inference_geo: 'us' }),
    // 1000 × (4 + 20) × 1.1
    usd: '0.0264',
  },
  {
    what: 'fast mode at Anthropic',
    model: 'anthropic/claude-opus-5',
    reply: claude({ input_tokens: 1000, output_tokens: 1000, speed: 'fast' }),
    // 1000 × (10 + 50)
    usd: '0.06',
  },
  {
    what: 'cache writes of 30 minutes and of 12 hours at OpenAI',
    model: 'openai/gpt-6-sol',
    reply: openai(4000, 1000, {
      prompt_tokens_details: {
        cached_tokens: 1000,
        cache_write_tokens: 2000,
        cache_write_tokens_details: { ttl_30m_tokens: 1000, ttl_12h_tokens: 1000 },
      },
    }),
    // 1000 × (2 + 0.2 + 2.5 + 5 + 10)
    usd: '0.0197',
  },
  // 2000 × 2.5 + 1000 × 0.25 + 1000 × 15
  { what: 'the standard service of OpenAI', model: 'openai/gpt-5.4', reply: openai(3000, 1000, CACHED), usd: '0.02025' },
  {
    what: 'the priority service of OpenAI',
    model: 'openai/gpt-5.4',
    reply: { ...openai(3000, 1000, CACHED), service_tier: 'priority' },
    usd: '0.0405',
  },
  {
    what: 'the flex service of OpenAI',
    model: 'openai/gpt-5.4',
    reply: { ...openai(3000, 1000, CACHED), service_tier: 'flex' },
    usd: '0.010125',
  },
  // 300,000 × 5 + 1000 × 22.5
  { what: 'a long prompt at OpenAI', model: 'openai/gpt-5.4', reply: openai(300_000, 1000), usd: '1.5225' },
  { what: 'a region of OpenAI’s', model: 'openai-eu/gpt-5.4', reply: openai(3000, 1000, CACHED), usd: '0.022275' },
  { what: 'a long prompt in a region of OpenAI’s', model: 'openai-eu/gpt-5.4', reply: openai(300_000, 1000), usd: '1.67475' },
  // 3000 × 2.5 + 1000 × 10
  {
    what: 'a region of OpenAI’s, of a model from before 2026-03-05',
    model: 'openai-eu/gpt-4o',
    reply: openai(3000, 1000),
    usd: '0.0175',
  },
  {
    what: 'sound at OpenAI',
    model: 'openai/gpt-audio',
    reply: openai(1100, 1050, {
      prompt_tokens_details: { audio_tokens: 1000 },
      completion_tokens_details: { audio_tokens: 1000 },
    }),
    // 100 × 2.5 + 1000 × 32 + 50 × 10 + 1000 × 64
    usd: '0.09675',
  },
  {
    what: 'sound in a prompt at Gemini',
    model: 'gemini/gemini-2.5-flash',
    reply: gemini({
      promptTokenCount: 1100,
      candidatesTokenCount: 1000,
      totalTokenCount: 2100,
      promptTokensDetails: [
        { modality: 'TEXT', tokenCount: 100 },
        { modality: 'AUDIO', tokenCount: 1000 },
      ],
    }),
    // 100 × 0.3 + 1000 × 1 + 1000 × 2.5
    usd: '0.00353',
  },
  {
    what: 'pictures of an answer at Gemini',
    model: 'gemini/gemini-2.5-flash-image',
    reply: gemini({
      promptTokenCount: 1000,
      candidatesTokenCount: 1300,
      totalTokenCount: 2300,
      candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 1290 }],
    }),
    // 1000 × 0.3 + 10 × 2.5 + 1290 × 30
    usd: '0.039025',
  },
  {
    what: 'a long prompt at Gemini',
    model: 'gemini/gemini-2.5-pro',
    reply: gemini({ promptTokenCount: 300_000, candidatesTokenCount: 1000, totalTokenCount: 301_000 }),
    // 300,000 × 2.5 + 1000 × 15
    usd: '0.765',
  },
  {
    what: 'a region of Vertex AI, of a Gemini that costs the same everywhere',
    model: 'vertex-us/gemini-2.5-pro',
    reply: gemini({ promptTokenCount: 1000, candidatesTokenCount: 1000, totalTokenCount: 2000 }),
    // 1000 × (1.25 + 10)
    usd: '0.01125',
  },
]

describe('a call costs what its vendor bills for', () => {
  let network: VendorNetwork
  let home: Home
  let url: string
  let reply: object
  const secret = createSecret('live')
  const budgeted = createSecret('live')

  before(async () => {
    const answer: RequestHandler = () => json(reply)
    network = await VendorNetwork.start({
      ...GOOGLE_TOKENS,
      'https://aiplatform.googleapis.com': answer,
      'https://aiplatform.eu.rep.googleapis.com': answer,
      'https://api.anthropic.com': answer,
      'https://api.openai.com/v1': answer,
      'https://bedrock-runtime.us-east-1.amazonaws.com': answer,
      'https://eu.api.openai.com/v1': answer,
      'https://generativelanguage.googleapis.com': answer,
      'https://us-east5-aiplatform.googleapis.com': answer,
    })
    const keyOf = (name: string, value: string, more: object = {}) => ({
      name,
      hash: `sha256:${digestOf(value)}`,
      kind: 'live',
      models: ['*'],
      ...more,
    })
    home = await Home.create({
      'routes.yaml': stringify({
        version: 1,
        chain: [{ plugin: 'auth' }, { plugin: 'header-stamping', config: { response: { 'x-cost': '{cost_usd}' } } }],
        namespaces: NAMESPACES,
        keys: [keyOf('k', secret), keyOf('b', budgeted, { budget: '0.02 USD/day' })],
      }),
    })
    const umg = home.run(['start', '--port', '0'], { env: { ...KEYS, ...network.env } })
    url = (await umg.prints(/^listening on (\S+)$/m))[1]!
  })

  after(async () => {
    await home?.remove()
    await network?.close()
  })

  const call = (model: string, key: string) =>
    fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model,
        messages: [{ role: 'user', content: 'Hi.' }],
        max_completion_tokens: 1300,
        service_tier: 'default',
      }),
    })

  for (const { what, model, usd, ...example } of EXAMPLES) {
    it(what, async () => {
      reply = example.reply
      const answer = await call(model, secret)
      expect(answer.status, await answer.clone().text()).to.equal(200)
      await answer.text()
      expect(answer.headers.get('x-cost')).to.equal(usd)
    })
  }

  it('a region: a budget reserves as much', async () => {
    reply = openai(10, 10)
    // 1300 × 15 × 1.1, and the prompt
    expect((await call('openai-eu/gpt-5.4', budgeted)).status).to.equal(429)
    expect((await call('openai/gpt-5.4', budgeted)).status).to.equal(200)
  })
})
