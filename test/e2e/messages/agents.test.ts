import type Anthropic from '@anthropic-ai/sdk'
import { expect } from 'chai'
import { json, openaiReply, sse } from '../../../core/testing/kit.ts'
import { ASKED, type Fixture, startFixture } from './fixture.ts'

type Body = Omit<Anthropic.MessageCreateParamsNonStreaming, 'model'>

interface Sent {
  readonly messages: readonly { readonly content: unknown; readonly tool_calls?: readonly Called[] }[]
  readonly tools: readonly { readonly function: { readonly name: string; readonly parameters?: object } }[]
  readonly reasoning_effort?: string
  readonly tool_choice?: { readonly function: { readonly name: string } }
}

interface Called {
  readonly function: { readonly name: string }
}

const callsIn = (content: readonly { readonly type: string; readonly id?: string }[]) =>
  content.flatMap(({ type, id }) => (type === 'tool_use' ? [id!] : []))

const NO_ARGUMENTS = { name: 'now', input_schema: { type: 'object' as const } }

describe("what Claude Code sends to /v1/messages, to an upstream that does not speak Anthropic's API", () => {
  let fixture: Fixture

  before(async () => {
    fixture = await startFixture({
      namespaces: ({ open }) => {
        const behind = (preset: string) => ({ provider: 'openai-compatible', config: { preset, baseUrl: `${open.origin}/v1` } })
        return { openrouter: behind('openrouter'), vercel: behind('vercel') }
      },
    })
  })
  after(() => fixture?.stop())

  /** What the upstream gets, and the parameters that are named as dropped. */
  async function send(body: Partial<Body>, model = 'open/gpt') {
    const { client, open } = fixture
    const asked = open.reply(json(openaiReply({ text: 'Hi' }).whole))
    const { response } = await client.messages.create({ model, ...ASKED, ...body }).withResponse()
    return { sent: (await asked).json() as Sent, dropped: response.headers.get('x-umg-params-dropped') }
  }

  for (const [model, effort, sent] of [
    ['llama-3.3-70b-versatile', 'high', undefined],
    ['gpt-4.1', 'high', undefined],
    ['gpt-oss-120b', 'high', 'high'],
    ['gpt-oss-120b', 'max', 'high'],
    ['openai/gpt-5.5', 'low', 'low'],
    ['gpt-5', 'max', 'high'],
    ['kimi-k3', 'medium', 'low'],
    ['gpt', 'xhigh', 'high'],
  ] as const) {
    it(`sends ${model} the effort that it takes, of ${effort} ${sent ?? 'none, and names it'}`, async () => {
      const body = { thinking: { type: 'adaptive' as const }, output_config: { effort } }
      const got = await send(body, `open/${model}`)
      expect([got.sent.reasoning_effort, got.dropped]).to.deep.equal([sent, sent === undefined ? 'thinking' : null])
    })
  }

  it('names a budget of thinking, for which an effort stands', async () => {
    const { sent, dropped } = await send({ thinking: { type: 'enabled', budget_tokens: 4096 }, max_tokens: 8000 }, 'open/gpt-5')
    expect([sent.reasoning_effort, dropped]).to.deep.equal(['medium', 'thinking.budget_tokens'])
  })

  it('sends no thinking as such to models that can be asked not to, and names it for others', async () => {
    const off = { thinking: { type: 'disabled' as const } }
    expect((await send(off, 'open/gpt-5.4')).sent.reasoning_effort).to.equal('none')
    const unknown = await send(off, 'open/llama-3.3-70b-versatile')
    expect([unknown.sent.reasoning_effort, unknown.dropped]).to.deep.equal([undefined, 'thinking'])
  })

  it('sends marks for the cache of prompts to models that the operator says take them', async () => {
    const cache_control = { type: 'ephemeral' as const }
    const system = [{ type: 'text' as const, text: 'Be brief.', cache_control }]
    const marked = await send({ system, tools: [{ ...NO_ARGUMENTS, cache_control }] }, 'open/claude-opus-4-6')
    expect(marked.sent.messages[0]!.content).to.deep.equal([{ type: 'text', text: 'Be brief.', cache_control }])
    expect(marked.sent.tools[0]).to.have.property('cache_control').that.deep.equals(cache_control)
    expect(marked.dropped).to.equal(null)
    const other = await send({ system })
    expect([other.sent.messages[0]!.content, other.dropped]).to.deep.equal(['Be brief.', 'cache_control'])
  })

  for (const preset of ['openrouter', 'vercel']) {
    it(`sends them to Claude behind ${preset}`, async () => {
      const { client, open } = fixture
      const cache_control = { type: 'ephemeral' as const }
      const system = [{ type: 'text' as const, text: 'Be brief.', cache_control }]
      const dropped = async (model: string) => {
        const asked = open.reply(json(openaiReply({ text: 'Hi' }).whole))
        const { response } = await client.messages.create({ model, ...ASKED, system }).withResponse()
        expect((await asked).body.includes('cache_control')).to.equal(model.includes('claude'))
        return response.headers.get('x-umg-params-dropped')
      }
      expect(await dropped(`${preset}/anthropic/claude-sonnet-4.5`)).to.equal(null)
      expect(await dropped(`${preset}/meta/llama-4`)).to.equal('cache_control')
    })
  }

  it('names the betas, which the upstream does not get', async () => {
    const { client, open } = fixture
    const asked = open.reply(json(openaiReply({ text: 'Hi' }).whole))
    const betas = { headers: { 'anthropic-beta': 'context-1m-2025-08-07' } }
    const { response } = await client.messages.create({ model: 'open/gpt', ...ASKED }, betas).withResponse()
    expect((await asked).headers).to.not.have.property('anthropic-beta')
    expect(response.headers.get('x-umg-params-dropped')).to.equal('anthropic-beta')
  })

  it('gives a tool without arguments the `properties` that GPT models require', async () => {
    const { sent } = await send({ tools: [NO_ARGUMENTS] })
    expect(sent.tools[0]!.function.parameters).to.deep.equal({ type: 'object', properties: {} })
  })

  it("leaves out the line for Anthropic's accounting, which no other cache of prompts survives, and names it", async () => {
    const billing = 'x-anthropic-billing-header: cc_version=2.1.197.f5e; cc_entrypoint=cli;'
    const line = (text: string) => ({ type: 'text' as const, text })
    for (const system of [[line(billing), line('Be brief.')], [line(`${billing}\nBe brief.`)], `${billing}\nBe brief.`]) {
      const { sent, dropped } = await send({ system })
      expect(sent.messages[0]).to.deep.equal({ role: 'system', content: 'Be brief.' })
      expect(dropped).to.equal('x-anthropic-billing-header')
    }
    const { sent } = await send({ system: [line(billing)] })
    expect(sent.messages).to.have.length(1)
    expect((await send({ system: 'Say x-anthropic-billing-header: none' })).dropped).to.equal(null)
  })

  it('goes on with a conversation in which Anthropic has found tools and searched the web', async () => {
    const called = { type: 'tool_use' as const, id: 'toolu_1', name: 'ToolSearch', input: { query: 'dates' } }
    const found = { type: 'tool_reference' as const, tool_name: 'mcp__dates__now' }
    const searched = { type: 'server_tool_use' as const, id: 'srvtoolu_1', name: 'web_search' as const, input: { query: 'Ulm' } }
    const results = { type: 'web_search_tool_result' as const, tool_use_id: 'srvtoolu_1', content: [] }
    const { sent, dropped } = await send({
      messages: [
        ...ASKED.messages,
        { role: 'assistant', content: [called] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: [found] }] },
        { role: 'assistant', content: [searched, results, { type: 'text', text: 'Ulm is old.' }] },
        { role: 'user', content: 'And?' },
      ],
      tools: [
        { type: 'tool_search_tool_regex_20251119', name: 'tool_search_tool_regex' },
        { ...NO_ARGUMENTS, defer_loading: true },
      ],
    })
    expect(sent.tools.map(({ function: { name } }) => name)).to.deep.equal(['now'])
    expect(sent.messages.slice(2)).to.deep.equal([
      { role: 'tool', tool_call_id: 'toolu_1', content: 'The tool mcp__dates__now can be called now.' },
      { role: 'assistant', content: 'Ulm is old.' },
      { role: 'user', content: 'And?' },
    ])
    const names = [
      'content.server_tool_use',
      'content.web_search_tool_result',
      'tools[].tool_search_tool',
      'tools[].defer_loading',
    ]
    expect(dropped).to.equal(names.join(', '))
  })

  for (const stream of [false, true]) {
    const streamed = stream ? ', streamed' : ''

    it(`gives each call of a conversation an id of its own, also if the upstream numbers them in each reply${streamed}`, async () => {
      const { client, open } = fixture
      const call = { id: 'now:0', name: 'now', arguments: {} }
      const reply = openaiReply({ tools: [call, call] })
      const messages: Anthropic.MessageParam[] = [...ASKED.messages]
      for (let turn = 0; turn < 3; turn++) {
        open.reply(stream ? sse(reply.stream) : json(reply.whole))
        const asked = { model: 'open/gpt', ...ASKED, messages, tools: [NO_ARGUMENTS] }
        const { content } = await (stream ? client.messages.stream(asked).finalMessage() : client.messages.create(asked))
        const results = callsIn(content).map((id) => ({ type: 'tool_result' as const, tool_use_id: id, content: 'ok' }))
        messages.push({ role: 'assistant', content }, { role: 'user', content: results })
      }
      const ids = messages.flatMap(({ content }) => (typeof content === 'string' ? [] : callsIn(content)))
      expect([ids.length, new Set(ids).size, ids[0]]).to.deep.equal([6, 6, 'now_0'])
    })

    it(`calls tools by names that vendors take, and gives the client its own${streamed}`, async () => {
      const { client, open } = fixture
      const names = [
        `mcp__plugin_${'google_workspace_'.repeat(5)}__calendar_respond_to_event`,
        `mcp__plugin_${'google_workspace_'.repeat(5)}__calendar_respond_to_all`,
        'calendar.respond/now',
        '2fa',
      ]
      const tools = [...names, 'plain'].map((name) => ({ ...NO_ARGUMENTS, name }))
      const { sent } = await send({ tools, tool_choice: { type: 'tool', name: names[0]! } })
      const fitted = sent.tools.map(({ function: { name } }) => name)
      for (const name of fitted) expect(name).to.match(/^[A-Za-z_][\w-]{0,63}$/)
      expect(new Set(fitted).size).to.equal(5)
      expect([fitted[4], sent.tool_choice!.function.name]).to.deep.equal(['plain', fitted[0]])
      const reply = openaiReply({ tools: fitted.map((name) => ({ name, arguments: {} })) })
      open.reply(stream ? sse(reply.stream) : json(reply.whole))
      const asked = { model: 'open/gpt', ...ASKED, tools }
      const { content } = await (stream ? client.messages.stream(asked).finalMessage() : client.messages.create(asked))
      const calls = content.filter((block) => block.type === 'tool_use')
      expect(calls.map(({ name }) => name)).to.deep.equal([...names, 'plain'])
      const results = calls.map(({ id }) => ({ type: 'tool_result' as const, tool_use_id: id, content: 'ok' }))
      const messages = [...ASKED.messages, { role: 'assistant' as const, content }, { role: 'user' as const, content: results }]
      const next = await send({ tools, messages })
      expect(next.sent.messages[1]!.tool_calls!.map(({ function: { name } }) => name)).to.deep.equal(fitted)
    })
  }
})
