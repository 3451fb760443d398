import { expect } from 'chai'
import { json, openaiReply, sse } from '../../../core/testing/kit.ts'
import { ASKED, type Fixture, named, startFixture } from './fixture.ts'

const MESSAGE = {
  id: 'msg_up1',
  type: 'message',
  role: 'assistant',
  model: 'claude-x-20260101',
  content: [{ type: 'text', text: 'Hi', citations: null }],
  stop_reason: 'stop_sequence',
  stop_sequence: 'END',
  usage: { input_tokens: 3, cache_read_input_tokens: 4, cache_creation_input_tokens: 0, output_tokens: 2 },
}

const EVENTS = [
  named({ type: 'message_start', message: { ...MESSAGE, content: [], stop_reason: null, stop_sequence: null } }),
  named({ type: 'ping' }),
  named({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
  named({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Grüße' } }),
  named({ type: 'content_block_stop', index: 0 }),
  named({
    type: 'message_delta',
    delta: { stop_reason: 'end_turn', stop_sequence: null },
    usage: { output_tokens: 9, input_tokens: null },
  }),
  named({ type: 'message_stop' }),
]

describe('POST /v1/messages, to Anthropic', () => {
  let fixture: Fixture

  before(async () => {
    fixture = await startFixture({
      namespaces: ({ claude }) => ({
        kimi: {
          provider: 'anthropic',
          // biome-ignore lint/suspicious/noTemplateCurlyInString: the syntax of routes.yaml
          config: { baseUrl: claude.origin, apiKey: '${env:KEY}', betas: ['context-1m-*'] },
        },
        acme: {
          models: {
            smart: { targets: [{ model: 'open/gpt' }], fallbacks: ['claude/claude-x'] },
            cool: { targets: [{ model: 'claude/claude-x' }], defaults: { temperature: 0.2 } },
            seeded: { targets: [{ model: 'claude/claude-x' }], fallbacks: ['open/gpt'], defaults: { seed: 7 } },
          },
        },
      }),
    })
  })
  after(() => fixture?.stop())

  it('is read by the SDK although the message begins twice; another one within it breaks the stream', async () => {
    const { claude, client } = fixture
    claude.reply(sse([EVENTS[0]!, ...EVENTS]))
    const message = await client.messages.stream({ model: 'claude/claude-x', ...ASKED }).finalMessage()
    expect(message.content).to.deep.equal([{ type: 'text', text: 'Grüße' }])
    claude.reply(sse([...EVENTS.slice(0, 4), EVENTS[0]!.replaceAll('msg_up1', 'msg_up2'), ...EVENTS.slice(1)]))
    const spliced = client.messages.stream({ model: 'claude/claude-x', ...ASKED }).finalMessage()
    expect(await spliced.catch((thrown: unknown) => String(thrown))).to.contain('api_error')
  })

  it("gets the client's own bytes but for the model, and its betas; the reply comes back unchanged", async () => {
    const { claude, gateway } = fixture
    const asked = claude.reply(json(MESSAGE))
    const body =
      '{ "model": "claude/claude-x", "max_tokens": 9,  "messages": [{"role":"user","content":"a"}], "new": 12345678901234567890 }'
    const reply = await fetch(`${gateway.url}/v1/messages?beta=true`, {
      method: 'POST',
      headers: {
        'x-api-key': gateway.liveKey,
        'content-type': 'application/json',
        'anthropic-version': '2023-06-01',
        'anthropic-beta': 'context-1m-2025-08-07',
        'anthropic-dangerous-direct-browser-access': 'true',
      },
      body,
    })
    expect(await reply.json()).to.deep.equal(MESSAGE)
    const request = await asked
    expect(request.body.toString()).to.equal(body.replace('claude/claude-x', 'claude-x'))
    expect(request.path).to.equal('/v1/messages')
    expect(request.headers).to.include({
      'x-api-key': 'sk-ant-upstream',
      'anthropic-version': '2023-06-01',
      'anthropic-beta': 'context-1m-2025-08-07',
    })
    expect(request.headers).to.not.have.any.keys('authorization', 'anthropic-dangerous-direct-browser-access')
  })

  it('has only the betas that the operator says a compatible upstream knows', async () => {
    const { claude, client } = fixture
    const asked = claude.reply(json(MESSAGE))
    const betas = { headers: { 'anthropic-beta': 'context-1m-2025-08-07,prompt-caching-scope-2026-01-05' } }
    const { response } = await client.messages.create({ model: 'kimi/k3', ...ASKED }, betas).withResponse()
    expect((await asked).headers['anthropic-beta']).to.equal('context-1m-2025-08-07')
    expect(response.headers.get('x-umg-params-dropped')).to.equal('anthropic-beta.prompt-caching-scope-2026-01-05')
  })

  it('is streamed unchanged, and logged with its tokens', async () => {
    const { claude, gateway } = fixture
    claude.reply(sse([EVENTS.join('')]))
    const reply = await gateway.fetch('/v1/messages', { json: { model: 'claude/claude-x', ...ASKED, stream: true } })
    expect(await reply.text()).to.equal(EVENTS.join(''))
    const line = await gateway.logged(({ id }) => id === reply.headers.get('request-id'))
    expect(line).to.deep.include({ outcome: 'ok', estimated: false })
    expect(line.tokens).to.include({ input: 7, output: 9, cached_input: 4 })
  })

  it('falls back if the first target fails before its first content', async () => {
    const { claude, open, client } = fixture
    open.reply(json({ error: { message: 'down' } }, { status: 500 }))
    claude.reply(sse([EVENTS.join('')]))
    const message = await client.messages.stream({ model: 'acme/smart', ...ASKED }).finalMessage()
    expect(message.content).to.deep.equal([{ type: 'text', text: 'Grüße' }])
  })

  it('falls back to Anthropic without the thinking that another upstream signed', async () => {
    const { claude, open, client } = fixture
    open.reply(json(openaiReply({ reasoning: 'Hm.', tools: [{ name: 'look', arguments: {} }] }).whole))
    const tools = [{ name: 'look', input_schema: { type: 'object' as const } }]
    const thinking = { type: 'enabled' as const, budget_tokens: 1024 }
    const { content } = await client.messages.create({ model: 'acme/smart', ...ASKED, tools, max_tokens: 2000, thinking })
    expect(content.map(({ type }) => type)).to.deep.equal(['thinking', 'tool_use'])
    const result = { type: 'tool_result' as const, tool_use_id: 'call_1', content: 'seen' }
    const messages = [...ASKED.messages, { role: 'assistant' as const, content }, { role: 'user' as const, content: [result] }]
    open.reply(json({ error: { message: 'down' } }, { status: 500 }))
    const asked = claude.reply(json(MESSAGE))
    const { response } = await client.messages
      .create({ model: 'acme/smart', max_tokens: 2000, messages, tools, thinking })
      .withResponse()
    const sent = (await asked).json() as { messages: { content: unknown }[]; thinking?: unknown }
    expect(sent.messages[1]!.content).to.deep.equal([content[1]])
    // Anthropic would refuse thinking within a tool step that began without it.
    expect(sent.thinking).to.equal(undefined)
    expect(response.headers.get('x-umg-params-dropped')).to.equal('thinking')
  })

  for (const [what, more, param] of [
    ['fallbacks to other models', { fallbacks: [{ model: 'claude-expensive' }] }, 'fallbacks'],
    [
      'a tool with another model',
      { tools: [{ type: 'advisor_20260301', name: 'advisor', model: 'claude-expensive' }] },
      'tools[0].model',
    ],
  ] as const) {
    it(`refuses ${what}, which the key may not call`, async () => {
      const { claude, gateway } = fixture
      const before = claude.requests.length
      const reply = await gateway.fetch('/v1/messages', { json: { model: 'claude/claude-x', ...ASKED, ...more } })
      const { error } = (await reply.json()) as { error: { message: string } }
      expect([reply.status, claude.requests.length]).to.deep.equal([400, before])
      expect(error.message).to.contain(`'${param}'`)
    })
  }

  for (const [what, member] of [
    ['fallbacks', '"fallback\\u0073":[{"model":"claude-expensive"}]'],
    ['a tool', '"tools":[{"type":"\\u0061dvisor_20260301","name":"advisor","model":"claude-expensive"}]'],
  ] as const) {
    it(`refuses ${what} with another model, spelt with escapes`, async () => {
      const { claude, gateway } = fixture
      const before = claude.requests.length
      const body = JSON.stringify({ model: 'claude/claude-x', ...ASKED }).replace('{', `{${member},`)
      const headers = { 'content-type': 'application/json' }
      const reply = await gateway.fetch('/v1/messages', { method: 'POST', body, headers })
      await reply.text()
      expect([reply.status, claude.requests.length]).to.deep.equal([400, before])
    })
  }

  it("gets a route's defaults under its own names, and as a chat completion those that it has no name for", async () => {
    const { claude, client } = fixture
    const first = claude.reply(json(MESSAGE))
    await client.messages.create({ model: 'acme/cool', ...ASKED })
    expect((await first).json()).to.deep.equal({ temperature: 0.2, model: 'claude-x', ...ASKED })
    const second = claude.reply(json(MESSAGE))
    const { response } = await client.messages.create({ model: 'acme/seeded', ...ASKED }).withResponse()
    expect((await second).json()).to.deep.include({ max_tokens: 100 })
    expect(response.headers.get('x-umg-params-dropped')).to.contain('seed')
  })
})
