import { expect } from 'chai'
import { json, openaiReply, type ScriptedUpstream, scriptedUpstream, sse } from '../../../core/testing/kit.ts'
import type { CallView } from '../../../core/usage/calls.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { poll } from '../../support/poll.ts'
import { type ApiClient, adminClient } from '../usage/api-client.ts'

const PRICE = { input: 1, cachedInput: 0.1, cacheWrite: 2, output: 10, reasoning: 20 }

/** How a vendor with OpenAI's protocol counts, and what the row of the call says of it, in tokens and US dollars. */
interface Counts {
  readonly usage: Readonly<Record<string, unknown>>
  readonly row: { readonly input: number; readonly output: number; readonly cached: number; readonly reasoning: number }
  readonly usd: string
}

const CACHED = { prompt_tokens: 1000, completion_tokens: 10, total_tokens: 1010 }
/** 100 × 1 + 900 × 0.1 + 10 × 10 */
const OF_CACHED = { row: { input: 1000, output: 10, cached: 900, reasoning: 0 }, usd: '0.00029' }

const VENDORS: Readonly<Record<string, Counts>> = {
  'cached tokens as OpenAI': { usage: { ...CACHED, prompt_tokens_details: { cached_tokens: 900 } }, ...OF_CACHED },
  'cached tokens as DeepSeek': {
    usage: { ...CACHED, prompt_cache_hit_tokens: 900, prompt_cache_miss_tokens: 100 },
    ...OF_CACHED,
  },
  'cached tokens as Moonshot': { usage: { ...CACHED, cached_tokens: 900 }, ...OF_CACHED },
  'cached tokens as Mistral': { usage: { ...CACHED, num_cached_tokens: 900 }, ...OF_CACHED },
  'cached tokens as Mistral, by its misspelt details': {
    usage: { ...CACHED, prompt_token_details: { cached_tokens: 900 } },
    ...OF_CACHED,
  },
  'cached tokens as LiteLLM': { usage: { ...CACHED, cache_read_input_tokens: 900 }, ...OF_CACHED },
  // 600 × 2 + 400 × 1 + 10 × 10
  'written tokens as Alibaba': {
    usage: { ...CACHED, cache_creation_input_tokens: 600 },
    row: { input: 1000, output: 10, cached: 0, reasoning: 0 },
    usd: '0.0017',
  },
  'written tokens as OpenRouter': {
    usage: { ...CACHED, prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 600 } },
    row: { input: 1000, output: 10, cached: 0, reasoning: 0 },
    usd: '0.0017',
  },
  'more cached tokens than there are, as xAI': {
    usage: { ...CACHED, prompt_tokens_details: { cached_tokens: 1200 } },
    row: { input: 1000, output: 10, cached: 1000, reasoning: 0 },
    usd: '0.0002',
  },
  // 291 × 1 + 26 × 10 + 196 × 20
  'thoughts beside the answer, as xAI': {
    usage: {
      prompt_tokens: 291,
      completion_tokens: 26,
      total_tokens: 513,
      completion_tokens_details: { reasoning_tokens: 196 },
    },
    row: { input: 291, output: 222, cached: 0, reasoning: 196 },
    usd: '0.004471',
  },
  'thoughts in the total only': {
    usage: { prompt_tokens: 5, completion_tokens: 10, total_tokens: 515 },
    row: { input: 5, output: 510, cached: 0, reasoning: 500 },
    usd: '0.010105',
  },
  'more thoughts than tokens of the answer, as MiniMax': {
    usage: {
      prompt_tokens: 100,
      completion_tokens: 10,
      total_tokens: 110,
      completion_tokens_details: { reasoning_tokens: 11 },
    },
    row: { input: 100, output: 10, cached: 0, reasoning: 10 },
    usd: '0.0003',
  },
  'a total without the answer, as Gemini': {
    usage: { prompt_tokens: 5, total_tokens: 105 },
    row: { input: 5, output: 100, cached: 0, reasoning: 0 },
    usd: '0.001005',
  },
}

/** What clients of each protocol are told, in the names of chat completions. */
const TOLD: Readonly<Record<string, (usage: Record<string, unknown>) => object>> = {
  '/v1/messages': ({
    input_tokens,
    output_tokens,
    cache_read_input_tokens: cached = 0,
    cache_creation_input_tokens: written = 0,
  }) => ({
    input: (input_tokens as number) + (cached as number) + (written as number),
    output: output_tokens,
    cached,
  }),
  '/v1/responses': ({ input_tokens, output_tokens, input_tokens_details }) => ({
    input: input_tokens,
    output: output_tokens,
    cached: (input_tokens_details as { cached_tokens: number }).cached_tokens,
  }),
}

describe('An upstream with OpenAI’s protocol that counts', () => {
  let upstream: ScriptedUpstream
  let gateway: TestGateway
  let api: ApiClient

  before(async () => {
    upstream = await scriptedUpstream()
    gateway = await startTestGateway({
      routes: {
        chain: [{ plugin: 'auth' }],
        namespaces: { own: { provider: 'openai-compatible', breaker: false, config: { baseUrl: `${upstream.origin}/v1` } } },
        prices: { models: { 'own/m': PRICE } },
      },
    })
    api = await adminClient(gateway)
  })

  after(async () => {
    await gateway?.stop()
    await upstream?.close()
  })

  async function call(path: string, usage: object, stream: boolean): Promise<{ row: CallView; text: string }> {
    const { whole, stream: frames } = openaiReply({ text: 'Hello!' })
    const own = JSON.stringify(usage)
    const usual = JSON.stringify(whole.usage)
    const script = stream ? sse(frames.map((frame) => frame.replace(usual, own))) : json({ ...whole, usage })
    upstream.reply(script)
    const asked =
      path === '/v1/responses' ? { input: 'Hi', store: false } : { max_tokens: 50, messages: [{ role: 'user', content: 'Hi' }] }
    const answer = await gateway.fetch(path, { json: { model: 'own/m', stream, ...asked } })
    const text = await answer.text()
    const id = answer.headers.get('x-request-id')!
    const { json: row } = await poll(
      () => api.get(`/requests/${id}`),
      ({ status }) => status === 200,
    )
    return { row: row as CallView, text }
  }

  for (const [name, { usage, row: expected, usd }] of Object.entries(VENDORS)) {
    it(`${name} is charged by that, exactly, in every protocol`, async () => {
      for (const path of ['/v1/chat/completions', '/v1/messages', '/v1/responses']) {
        for (const stream of [false, true]) {
          const { row, text } = await call(path, usage, stream)
          const title = `${path}, stream ${stream}`
          expect(row.tokens, title).to.deep.equal({ ...expected, estimated: false })
          expect(row.cost?.usd, title).to.equal(usd)
          const told = TOLD[path]
          if (told === undefined || stream) continue
          const { input, output, cached } = expected
          expect(told(JSON.parse(text).usage), title).to.deep.equal({ input, output, cached })
        }
      }
    })
  }
})
