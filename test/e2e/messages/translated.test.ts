import Anthropic from '@anthropic-ai/sdk'
import { expect } from 'chai'
import { json, openaiReply, sse } from '../../../core/testing/kit.ts'
import { ASKED, type Fixture, startFixture } from './fixture.ts'

const TOOL = {
  name: 'weather',
  description: 'Tells the weather.',
  input_schema: { type: 'object' as const, properties: { city: { type: 'string' } } },
}
const CALLED = { name: 'weather', arguments: { city: 'Ulm' } }

describe("POST /v1/messages, to an upstream that does not speak Anthropic's API", () => {
  let fixture: Fixture

  before(async () => {
    fixture = await startFixture()
  })
  after(() => fixture?.stop())

  it('answers the SDK with a message, and is logged with its tokens', async () => {
    const { client, open, gateway } = fixture
    const usage = { prompt_tokens: 10, completion_tokens: 3, total_tokens: 13, prompt_tokens_details: { cached_tokens: 4 } }
    open.reply(json(openaiReply({ text: 'Grüße', usage }).whole))
    const { data, response, request_id: id } = await client.messages.create({ model: 'open/gpt', ...ASKED }).withResponse()
    expect(data).to.deep.include({ id: 'msg_1', role: 'assistant', model: 'open/gpt', stop_reason: 'end_turn' })
    expect(data.content).to.deep.equal([{ type: 'text', text: 'Grüße' }])
    expect(data.usage).to.include({ input_tokens: 6, cache_read_input_tokens: 4, output_tokens: 3 })
    expect(id).to.equal(response.headers.get('x-request-id'))
    const line = await gateway.logged((one) => one.id === id)
    expect(line).to.deep.include({ endpoint: 'messages', outcome: 'ok', estimated: false })
    expect(line.tokens).to.deep.include({ input: 10, output: 3, cached_input: 4 })
    const operation = { gen_ai_operation_name: 'chat' }
    expect(await gateway.metric('gen_ai_server_request_duration_seconds_count', operation)).to.be.at.least(1)
  })

  it('sends a chat completion request with all that it has a place for, and names the rest', async () => {
    const { client, open } = fixture
    const asked = open.reply(json(openaiReply({ text: 'Hi' }).whole))
    const cache_control = { type: 'ephemeral' as const }
    const { response } = await client.messages
      .create({
        model: 'open/gpt',
        max_tokens: 50,
        system: [{ type: 'text', text: 'Be brief.', cache_control }],
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'Look:' },
              { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
              { type: 'document', title: 'a.pdf', source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' } },
            ],
          },
        ],
        tools: [{ ...TOOL, cache_control }],
        tool_choice: { type: 'any', disable_parallel_tool_use: true },
        stop_sequences: ['END'],
        metadata: { user_id: 'ada' },
        output_config: { effort: 'low', format: { type: 'json_schema', schema: { type: 'object' } } },
        speed: 'fast',
      })
      .withResponse()
    expect((await asked).json()).to.deep.equal({
      model: 'gpt',
      messages: [
        { role: 'system', content: 'Be brief.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Look:' },
            { type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
            { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' } },
          ],
        },
      ],
      max_completion_tokens: 50,
      stop: ['END'],
      tools: [{ type: 'function', function: { name: TOOL.name, description: TOOL.description, parameters: TOOL.input_schema } }],
      tool_choice: 'required',
      parallel_tool_calls: false,
      reasoning_effort: 'low',
      response_format: { type: 'json_schema', json_schema: { name: 'output', schema: { type: 'object' }, strict: true } },
      user: 'ada',
    })
    expect(response.headers.get('x-umg-params-dropped')).to.equal('speed, cache_control')
  })

  it("names parameters that a provider drops by the client's names", async () => {
    const { client, gemini } = fixture
    gemini.reply(json(GEMINI))
    const { response } = await client.messages
      .create({ model: 'gemini/gemini-2.5-pro', ...ASKED, metadata: { user_id: 'ada' } })
      .withResponse()
    expect(response.headers.get('x-umg-params-dropped')).to.equal('metadata.user_id')
  })

  for (const stream of [false, true]) {
    it(`completes the SDK's loop of tools${stream ? ', streamed' : ''}`, async () => {
      const { client, open } = fixture
      const turns = [openaiReply({ text: 'I look.', tools: [CALLED] }), openaiReply({ text: 'Sunny.' })]
      for (const { whole, stream: events } of turns) open.reply(stream ? sse(events) : json(whole))
      const run = async ({ city }: { city: string }) => [{ type: 'text' as const, text: `Sun in ${city}` }]
      const runner = client.beta.messages.toolRunner({
        model: 'open/gpt',
        ...ASKED,
        stream,
        tools: [{ ...TOOL, type: 'custom', run, parse: (input: unknown) => input as { city: string } }],
      })
      const message = await runner.runUntilDone()
      expect(message.content).to.deep.equal([{ type: 'text', text: 'Sunny.' }])
      const { messages } = open.requests.at(-1)!.json() as { messages: unknown[] }
      expect(messages.slice(1)).to.deep.equal([
        {
          role: 'assistant',
          content: 'I look.',
          tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Ulm"}' } }],
        },
        { role: 'tool', tool_call_id: 'call_1', content: 'Sun in Ulm' },
      ])
    })
  }

  it("is read by the SDK's stream helper: thinking, text and a tool call", async () => {
    const { client, open } = fixture
    open.reply(sse(openaiReply({ reasoning: 'Hm, so.', text: 'I look.', tools: [CALLED] }).stream))
    const stream = client.messages.stream({ model: 'open/gpt', ...ASKED, tools: [TOOL] })
    const [texts, thoughts]: [string[], string[]] = [[], []]
    stream.on('text', (delta) => texts.push(delta)).on('thinking', (delta) => thoughts.push(delta))
    const { content, stop_reason: stop, usage } = await stream.finalMessage()
    expect([texts.join(''), thoughts.join(''), stop]).to.deep.equal(['I look.', 'Hm, so.', 'tool_use'])
    expect(content.map(({ type }) => type)).to.deep.equal(['thinking', 'text', 'tool_use'])
    expect(content.at(-1)).to.deep.include({ id: 'call_1', name: 'weather', input: { city: 'Ulm' } })
    expect(usage).to.include({ input_tokens: 5, output_tokens: 2 })
  })

  it('asks for one token where a client wants only the cache to be filled', async () => {
    const asked = fixture.open.reply(json(openaiReply({ text: 'H', finish: 'length' }).whole))
    const messages = [{ role: 'user' as const, content: 'Hi' }]
    const { stop_reason } = await fixture.client.messages.create({ model: 'open/gpt', max_tokens: 0, messages })
    expect((await asked).json()).to.include({ max_completion_tokens: 1 })
    expect(stop_reason).to.equal('max_tokens')
  })

  it('returns thinking to an upstream that wants it back, under its own name', async () => {
    const { client, open } = fixture
    open.reply(json(openaiReply({ reasoning: 'Hm.', tools: [CALLED] }).whole))
    const { content } = await client.messages.create({ model: 'open/r', ...ASKED, tools: [TOOL] })
    const asked = open.reply(json(openaiReply({ text: 'Sunny.' }).whole))
    const result = { type: 'tool_result' as const, tool_use_id: 'call_1', content: 'Sun', is_error: true }
    const messages = [...ASKED.messages, { role: 'assistant' as const, content }, { role: 'user' as const, content: [result] }]
    await client.messages.create({ model: 'open/r', max_tokens: 9, messages, tools: [TOOL] })
    const { messages: sent } = (await asked).json() as { messages: Record<string, unknown>[] }
    expect(sent[1]).to.include({ reasoning_content: 'Hm.' })
    expect(sent[2]).to.deep.equal({ role: 'tool', tool_call_id: 'call_1', content: 'The tool failed:\nSun' })
  })

  it('moves images in the result of a tool to the message after it', async () => {
    const { client, open } = fixture
    const asked = open.reply(json(openaiReply({ text: 'A cat.' }).whole))
    const image = { type: 'image' as const, source: { type: 'base64' as const, media_type: 'image/png' as const, data: 'AAAA' } }
    await client.messages.create({
      model: 'open/gpt',
      max_tokens: 9,
      messages: [
        { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'weather', input: {} }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: [{ type: 'text', text: 'Here' }, image] }] },
      ],
      tools: [TOOL],
    })
    const { messages } = (await asked).json() as { messages: unknown[] }
    expect(messages.slice(1)).to.deep.equal([
      { role: 'tool', tool_call_id: 'c1', content: 'Here' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'The result of the tool call c1 continues:' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
        ],
      },
    ])
  })

  for (const [what, more, param] of [
    ['a tool that Anthropic runs', { tools: [{ type: 'web_search_20250305', name: 'web_search' }] }, 'tools[0].type'],
    ['a file stored at Anthropic', { messages: fileMessage() }, 'messages[0].content[0].source'],
    ['MCP servers', { mcp_servers: [{ type: 'url', name: 'a', url: 'https://a.example' }] }, 'mcp_servers'],
  ] as const) {
    it(`refuses ${what} before anything is sent`, async () => {
      const { client, open } = fixture
      const before = open.requests.length
      const body = { model: 'open/gpt', ...ASKED, ...more } as unknown as Anthropic.MessageCreateParamsNonStreaming
      const error = await client.messages.create(body).catch((thrown: unknown) => thrown)
      expect(error).to.be.instanceOf(Anthropic.BadRequestError).with.property('type', 'invalid_request_error')
      expect(String(error)).to.contain(`'${param}'`)
      expect(open.requests.length).to.equal(before)
    })
  }

  it('is answered by the sandbox with a test key', async () => {
    const { gateway } = fixture
    const client = new Anthropic({ baseURL: gateway.url, apiKey: gateway.testKey })
    const message = await client.messages.stream({ model: 'open/gpt', ...ASKED }).finalMessage()
    expect(message.content[0]).to.deep.include({ type: 'text' })
    expect(message.stop_reason).to.equal('end_turn')
  })
})

const GEMINI = {
  candidates: [{ content: { role: 'model', parts: [{ text: 'Hi' }] }, finishReason: 'STOP' }],
  usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
}

function fileMessage() {
  return [{ role: 'user', content: [{ type: 'document', source: { type: 'file', file_id: 'file_1' } }] }]
}
