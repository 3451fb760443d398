import { expect } from 'chai'
import { event, json, openaiReply, type ScriptedUpstream, scriptedUpstream, sse } from '../../../core/testing/kit.ts'
import type { CallView } from '../../../core/usage/calls.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { poll } from '../../support/poll.ts'
import { type ApiClient, adminClient } from '../usage/api-client.ts'

const USAGE = { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 }
const REPLY = openaiReply({ text: 'Hello!', usage: USAGE })
/** 1000 × 2 + 100 × 10 */
const USUAL = '0.003'

const FACTORS = { service_tier: { priority: 2.5, flex: 0.5, batch: 0.5 }, speed: { fast: 6 }, inference_geo: { us: 1.1 } }

/** A call, what its upstream says of the service, and what it costs. */
interface Example {
  readonly what: string
  readonly asked?: object
  readonly said?: object
  readonly usd: string
}

const EXAMPLES: readonly Example[] = [
  { what: 'what it asks for, if the upstream says nothing', asked: { service_tier: 'priority' }, usd: '0.0075' },
  { what: 'what served it', asked: { service_tier: 'priority' }, said: { service_tier: 'priority' }, usd: '0.0075' },
  {
    what: 'the usual service, to which its upstream fell back',
    asked: { service_tier: 'priority' },
    said: { service_tier: 'default' },
    usd: USUAL,
  },
  { what: 'the service that the settings of a project chose', said: { service_tier: 'priority' }, usd: '0.0075' },
  { what: 'the cheaper service that `auto` got', asked: { service_tier: 'auto' }, said: { service_tier: 'flex' }, usd: '0.0015' },
  { what: 'half, where it was served as one of a batch', said: { service_tier: 'batch' }, usd: '0.0015' },
  { what: 'the usual service, for one without a price', said: { service_tier: 'unheard-of' }, usd: USUAL },
  { what: 'the usual service, for what is no text', said: { service_tier: { priority: 1 } }, usd: USUAL },
]

describe('a call costs', () => {
  let upstream: ScriptedUpstream
  let gateway: TestGateway
  let api: ApiClient

  before(async () => {
    upstream = await scriptedUpstream()
    const base = { breaker: false, hostedTools: [] }
    gateway = await startTestGateway({
      routes: {
        chain: [{ plugin: 'auth' }],
        namespaces: {
          open: { provider: 'openai-compatible', ...base, config: { baseUrl: `${upstream.origin}/v1` } },
          full: {
            provider: 'openai-compatible',
            ...base,
            config: { baseUrl: `${upstream.origin}/v1`, responses: true, api: 'responses' },
          },
          claude: { provider: 'anthropic', ...base, config: { baseUrl: upstream.origin, apiKey: `\${env:KEY}` } },
          gemini: { provider: 'gemini', ...base, config: { baseUrl: upstream.origin, apiKey: `\${env:KEY}` } },
        },
        prices: {
          models: {
            'open/cached': { input: 2, output: 10, cacheWrite: 2.5, cacheWrite12h: 5 },
            'open/*': { input: 2, output: 10, variants: { service_tier: FACTORS.service_tier } },
            'full/*': { input: 2, output: 10, variants: { service_tier: FACTORS.service_tier } },
            'claude/*': { input: 2, output: 10, variants: FACTORS },
            'gemini/*': { input: 2, output: 10, variants: { service_tier: FACTORS.service_tier } },
          },
        },
      },
      env: { KEY: 'key' },
    })
    api = await adminClient(gateway)
  })

  after(async () => {
    await gateway?.stop()
    await upstream?.close()
  })

  async function costOf(path: string, body: object): Promise<CallView['cost']> {
    const answer = await gateway.fetch(path, { json: body })
    expect(answer.status, await answer.clone().text()).to.equal(200)
    await answer.text()
    const row = await poll(
      () => api.get(`/requests/${answer.headers.get('x-request-id')}`),
      ({ status }) => status === 200,
    )
    return (row.json as CallView).cost
  }

  const chat = (asked: object | undefined, stream = false) =>
    costOf('/v1/chat/completions', { model: 'open/m', messages: [{ role: 'user', content: 'Hi.' }], stream, ...asked })

  for (const { what, asked, said, usd } of EXAMPLES) {
    it(`${what}: a completion, whole and streamed`, async () => {
      upstream.reply(json({ ...REPLY.whole, ...said }))
      expect((await chat(asked))!.usd).to.equal(usd)
      const [usage] = [{ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [], usage: USAGE, ...said }]
      const choices = [{ index: 0, delta: { content: 'Hello!' }, finish_reason: 'stop' }]
      upstream.reply(sse([event({ ...usage, choices, usage: null }), event(usage), 'data: [DONE]\n\n']))
      expect((await chat(asked, true))!.usd).to.equal(usd)
    })

    it(`${what}: a response, whole and streamed, also of a chat completion`, async () => {
      const { whole, events } = response(said)
      const input = { model: 'full/m', input: 'Hi.', ...asked }
      upstream.reply(json(whole))
      expect((await costOf('/v1/responses', input))!.usd).to.equal(usd)
      upstream.reply(sse(events))
      expect((await costOf('/v1/responses', { ...input, stream: true }))!.usd).to.equal(usd)
      const messages = [{ role: 'user', content: 'Hi.' }]
      upstream.reply(json(whole))
      expect((await costOf('/v1/chat/completions', { model: 'full/m', messages, ...asked }))!.usd).to.equal(usd)
      upstream.reply(sse(events))
      expect((await costOf('/v1/chat/completions', { model: 'full/m', messages, stream: true, ...asked }))!.usd).to.equal(usd)
    })
  }

  const MESSAGES = [
    { what: 'fast mode that the usage names', asked: { speed: 'fast' }, said: { speed: 'fast' }, usd: '0.018' },
    { what: 'the usual speed, to which fast mode fell back', asked: { speed: 'fast' }, said: { speed: 'standard' }, usd: USUAL },
    { what: 'half, where the usage names a batch', asked: {}, said: { service_tier: 'batch' }, usd: '0.0015' },
    { what: 'the region that a workspace chose', asked: {}, said: { inference_geo: 'us' }, usd: '0.0033' },
    { what: 'the usual region of a model that knows none', asked: {}, said: { inference_geo: 'not_available' }, usd: USUAL },
  ]

  for (const { what, asked, said, usd } of MESSAGES) {
    it(`${what}: a message, whole and streamed`, async () => {
      const counts = { input_tokens: 1000, output_tokens: 100 }
      const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: null }
      const request = { model: 'claude/m', max_tokens: 100, messages: [{ role: 'user', content: 'Hi.' }], ...asked }
      upstream.reply(json({ ...message, stop_reason: 'end_turn', usage: { ...counts, ...said } }))
      expect((await costOf('/v1/messages', request))!.usd).to.equal(usd)
      upstream.reply(
        sse([
          event({ type: 'message_start', message: { ...message, usage: { ...counts, output_tokens: 1, ...said } } }),
          event({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 100 } }),
          event({ type: 'message_stop' }),
        ]),
      )
      expect((await costOf('/v1/messages', { ...request, stream: true }))!.usd).to.equal(usd)
    })
  }

  for (const { served, usd } of [
    { served: 'priority', usd: '0.0075' },
    { served: 'standard', usd: USUAL },
  ])
    it(`${served}, by which Google says that it has served a chat completion that asks for priority, whole and streamed`, async () => {
      const reply = {
        candidates: [{ index: 0, content: { role: 'model', parts: [{ text: 'Hello!' }] }, finishReason: 'STOP' }],
        usageMetadata: { promptTokenCount: 1000, candidatesTokenCount: 100, serviceTier: served },
      }
      const messages = [{ role: 'user', content: 'Hi.' }]
      const asked = { model: 'gemini/gemini-2.5-flash', messages, service_tier: 'priority' }
      upstream.reply(json(reply))
      expect((await costOf('/v1/chat/completions', asked))!.usd).to.equal(usd)
      upstream.reply(sse([event(reply)]))
      expect((await costOf('/v1/chat/completions', { ...asked, stream: true }))!.usd).to.equal(usd)
    })

  it('the usual service, where the provider leaves out what the client asks for', async () => {
    const counts = { input_tokens: 1000, output_tokens: 100 }
    const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [{ type: 'text', text: 'Hello!' }] }
    const messages = [{ role: 'user', content: 'Hi.' }]
    for (const service_tier of ['flex', 'priority']) {
      upstream.reply(json({ ...message, stop_reason: 'end_turn', usage: counts }))
      expect((await costOf('/v1/chat/completions', { model: 'claude/m', messages, service_tier }))!.usd).to.equal(USUAL)
    }
  })

  it('as much as writes to a cache for twelve hours, where the usage tells of them', async () => {
    const prompt_tokens_details = {
      cache_write_tokens: 800,
      cache_write_tokens_details: { ttl_30m_tokens: 300, ttl_12h_tokens: 500 },
    }
    upstream.reply(json(openaiReply({ text: 'Hello!', usage: { ...USAGE, prompt_tokens_details } }).whole))
    const messages = [{ role: 'user', content: 'Hi.' }]
    const cost = await costOf('/v1/chat/completions', { model: 'open/cached', messages })
    // 200 × 2 + 300 × 2.5 + 500 × 5 + 100 × 10
    expect(cost!.usd).to.equal('0.00465')
  })

  it('at most what was reserved: the dearest service, where a call leaves the choice open', async () => {
    const key = await gateway.key({ budgets: ['0.01 USD/month'] })
    const send = (asked: object) =>
      gateway.fetch('/v1/chat/completions', {
        key,
        json: { model: 'open/m', messages: [{ role: 'user', content: 'Hi.' }], max_tokens: 500, ...asked },
      })
    // 500 × 10 × 2.5
    for (const asked of [{}, { service_tier: 'auto' }, { service_tier: 'priority' }]) {
      const answer = await send(asked)
      expect(answer.status, JSON.stringify(asked)).to.equal(429)
      expect(((await answer.json()) as { error: { code: string } }).error.code).to.equal('insufficient_quota')
    }
    upstream.reply(json({ ...REPLY.whole, service_tier: 'default' }))
    expect((await send({ service_tier: 'default' })).status).to.equal(200)
  })
})

/** A response of OpenAI's. */
function response(said: object | undefined) {
  const item = { id: 'msg_1', type: 'message', role: 'assistant', status: 'completed' }
  const part = { type: 'output_text', text: 'Hello!', annotations: [] }
  const counts = { input_tokens: 1000, output_tokens: 100, total_tokens: 1100 }
  const begun = {
    id: 'resp_1',
    object: 'response',
    created_at: 1,
    model: 'm',
    status: 'in_progress',
    output: [],
    service_tier: 'auto',
  }
  const whole = {
    ...begun,
    service_tier: undefined,
    status: 'completed',
    output: [{ ...item, content: [part] }],
    usage: counts,
    ...said,
  }
  const at = { item_id: 'msg_1', output_index: 0, content_index: 0 }
  const events = [
    { type: 'response.created', response: begun },
    { type: 'response.output_item.added', output_index: 0, item: { ...item, status: 'in_progress', content: [] } },
    { type: 'response.content_part.added', ...at, part: { ...part, text: '' } },
    { type: 'response.output_text.delta', ...at, delta: 'Hello!' },
    { type: 'response.output_text.done', ...at, text: 'Hello!' },
    { type: 'response.content_part.done', ...at, part },
    { type: 'response.output_item.done', output_index: 0, item: { ...item, content: [part] } },
    { type: 'response.completed', response: whole },
  ]
  return { whole, events: events.map((each, index) => event({ ...each, sequence_number: index })) }
}
