import { expect } from 'chai'
import OpenAI, { BadRequestError } from 'openai'
import { zodTextFormat } from 'openai/helpers/zod'
import { z } from 'zod'
import { readState } from '../../../core/protocol/state.ts'
import { readResponseStream } from '../../../core/testing/conformance/read-responses.ts'
import { json, openaiReply, sse } from '../../../core/testing/kit.ts'
import { type ResponsesFixture, startFixture } from './fixture.ts'

const TOOL = {
  type: 'function' as const,
  name: 'weather',
  description: 'Tells the weather.',
  parameters: { type: 'object', properties: { city: { type: 'string' } } },
  strict: false,
}
const CALLED = { name: 'weather', arguments: { city: 'Ulm' } }

describe('POST /v1/responses, to an upstream that does not have it', () => {
  let fixture: ResponsesFixture

  before(async () => {
    fixture = await startFixture()
  })
  after(() => fixture?.stop())

  it('answers the SDK with a response, and is logged with its tokens', async () => {
    const { client, open, gateway } = fixture
    const usage = {
      prompt_tokens: 10,
      completion_tokens: 3,
      total_tokens: 13,
      prompt_tokens_details: { cached_tokens: 4 },
      completion_tokens_details: { reasoning_tokens: 1 },
    }
    const asked = open.reply(json(openaiReply({ text: 'Grüße', usage }).whole))
    const body = { model: 'open/gpt', input: 'Hello', instructions: 'Be brief.', metadata: { a: 'b' }, temperature: 0.5 }
    const { data, request_id: id } = await client.responses.create(body).withResponse()
    expect((await asked).json()).to.deep.equal({
      model: 'gpt',
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Hello' },
      ],
      temperature: 0.5,
    })
    expect(data).to.deep.include({
      id: 'resp_1',
      object: 'response',
      model: 'open/gpt',
      status: 'completed',
      output_text: 'Grüße',
      instructions: 'Be brief.',
      metadata: { a: 'b' },
      temperature: 0.5,
      store: false,
      tools: [],
      usage: {
        input_tokens: 10,
        input_tokens_details: { cached_tokens: 4, cache_write_tokens: 0 },
        output_tokens: 3,
        output_tokens_details: { reasoning_tokens: 1 },
        total_tokens: 13,
      },
    })
    const line = await gateway.logged((one) => one.id === id)
    expect(line).to.deep.include({ endpoint: 'responses', outcome: 'ok', estimated: false })
    expect(line.tokens).to.deep.equal({ input: 10, output: 3, cached_input: 4, reasoning: 1 })
  })

  it('sends a chat completion request with all that it has a place for, and names the rest', async () => {
    const { client, open } = fixture
    const asked = open.reply(json(openaiReply({ text: 'Hi' }).whole))
    const { response } = await client.responses
      .create({
        model: 'open/gpt',
        input: [
          { role: 'developer', content: 'Be kind.' },
          {
            role: 'user',
            content: [
              { type: 'input_text', text: 'Look:' },
              { type: 'input_image', image_url: 'https://example.com/a.png', detail: 'low' },
              { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' },
            ],
          },
          { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content: [said('Hm.'), refused('No.')] },
          { type: 'function_call', call_id: 'c1', name: 'weather', arguments: '{"city":"Ulm"}' },
          { type: 'custom_tool_call', call_id: 'c2', name: 'shell', input: 'ls' },
          { type: 'function_call_output', call_id: 'c1', output: [{ type: 'input_text', text: 'Sun' }, PICTURE] },
          { type: 'custom_tool_call_output', call_id: 'c2', output: 'a.txt' },
        ],
        tools: [
          { ...TOOL, strict: true },
          {
            type: 'custom',
            name: 'shell',
            description: 'Runs a command.',
            format: { type: 'grammar', syntax: 'regex', definition: '.+' },
          },
          { type: 'namespace', name: 'crm', description: 'Customers.', tools: [{ type: 'function', name: 'find' }] },
        ],
        tool_choice: { type: 'custom', name: 'shell' },
        parallel_tool_calls: false,
        max_output_tokens: 50,
        reasoning: { effort: 'low', summary: 'auto' },
        text: { verbosity: 'low', format: { type: 'json_schema', name: 'city', schema: { type: 'object' }, strict: true } },
        include: ['reasoning.encrypted_content'],
        prompt_cache_key: 'k',
        store: true,
        truncation: 'auto',
      })
      .withResponse()
    const parameters = {
      type: 'object',
      properties: { input: { type: 'string', description: 'All of the input, as plain text.' } },
      required: ['input'],
      additionalProperties: false,
    }
    expect((await asked).json()).to.deep.equal({
      model: 'gpt',
      messages: [
        { role: 'system', content: 'Be kind.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Look:' },
            { type: 'image_url', image_url: { url: 'https://example.com/a.png', detail: 'low' } },
            { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' } },
          ],
        },
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'Hm.' },
            { type: 'refusal', refusal: 'No.' },
          ],
          tool_calls: [
            { id: 'c1', type: 'function', function: { name: 'weather', arguments: '{"city":"Ulm"}' } },
            { id: 'c2', type: 'function', function: { name: 'shell', arguments: '{"input":"ls"}' } },
          ],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'Sun' },
        { role: 'tool', tool_call_id: 'c2', content: 'a.txt' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'The result of the tool call c1 continues:' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
          ],
        },
      ],
      max_completion_tokens: 50,
      tools: [
        {
          type: 'function',
          function: { name: 'weather', description: TOOL.description, parameters: TOOL.parameters, strict: true },
        },
        {
          type: 'function',
          function: { name: 'shell', description: 'Runs a command.\n\nThe input must match this regex grammar:\n.+', parameters },
        },
        { type: 'function', function: { name: 'crm__find' } },
      ],
      tool_choice: { type: 'function', function: { name: 'shell' } },
      parallel_tool_calls: false,
      reasoning_effort: 'low',
      verbosity: 'low',
      response_format: { type: 'json_schema', json_schema: { name: 'city', schema: { type: 'object' }, strict: true } },
    })
    expect(response.headers.get('x-umg-params-dropped')?.split(', ')).to.have.members([
      'store',
      'truncation',
      'tools[].format',
      'prompt_cache_key',
    ])
  })

  for (const stream of [false, true]) {
    const streamed = stream ? ', streamed' : ''

    it(`completes a loop of tools, with reasoning that the upstream wants back${streamed}`, async () => {
      const { client, open } = fixture
      const input: OpenAI.Responses.ResponseInputItem[] = [{ role: 'user', content: 'How is the weather?' }]
      const first = openaiReply({ reasoning: 'Hm, so.', text: 'I look.', tools: [CALLED, { name: 'wait', arguments: {} }] })
      const asked = { model: 'open/r', tools: [TOOL], input }
      open.reply(stream ? sse(first.stream) : json(first.whole))
      const reply = await (stream ? client.responses.stream(asked).finalResponse() : client.responses.create(asked))
      expect(reply.output.map(({ type }) => type)).to.deep.equal(['reasoning', 'message', 'function_call', 'function_call'])
      expect(reply.output_text).to.equal('I look.')
      input.push(...(reply.output as OpenAI.Responses.ResponseInputItem[]))
      for (const item of reply.output) {
        if (item.type === 'function_call') input.push({ type: 'function_call_output', call_id: item.call_id, output: 'Sun' })
      }
      const next = open.reply(json(openaiReply({ text: 'Sunny.' }).whole))
      expect((await client.responses.create(asked)).output_text).to.equal('Sunny.')
      const { messages } = (await next).json() as { messages: unknown[] }
      expect(messages.slice(1)).to.deep.equal([
        {
          role: 'assistant',
          content: 'I look.',
          tool_calls: [
            { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Ulm"}' } },
            { id: 'call_2', type: 'function', function: { name: 'wait', arguments: '{}' } },
          ],
          reasoning_content: 'Hm, so.',
        },
        { role: 'tool', tool_call_id: 'call_1', content: 'Sun' },
        { role: 'tool', tool_call_id: 'call_2', content: 'Sun' },
      ])
    })

    it(`gives calls of custom tools and of namespaces as such${streamed}`, async () => {
      const { client, open } = fixture
      const tools: OpenAI.Responses.Tool[] = [
        { type: 'custom', name: 'shell' },
        { type: 'namespace', name: 'crm', description: 'Customers.', tools: [{ type: 'function', name: 'find' }] },
      ]
      const reply = openaiReply({
        tools: [
          { name: 'shell', arguments: { input: 'ls "a b"\n' } },
          { name: 'crm__find', arguments: { id: 7 } },
        ],
      })
      open.reply(stream ? sse(reply.stream) : json(reply.whole))
      const asked = { model: 'open/gpt', input: 'Go.', tools }
      const { output } = await (stream ? client.responses.stream(asked).finalResponse() : client.responses.create(asked))
      expect(output[0]).to.include({ type: 'custom_tool_call', call_id: 'call_1', name: 'shell', input: 'ls "a b"\n' })
      expect(output[1]).to.include({ type: 'function_call', name: 'find', namespace: 'crm', arguments: '{"id":7}' })
    })

    it(`is parsed by the SDK${streamed}`, async () => {
      const { client, open } = fixture
      const reply = openaiReply({ text: '{"city":"Ulm"}' })
      open.reply(stream ? sse(reply.stream) : json(reply.whole))
      const text = { format: zodTextFormat(z.object({ city: z.string() }), 'city') }
      const asked = { model: 'open/gpt', input: 'Where?', text }
      const parsed = await (stream ? client.responses.stream(asked).finalResponse() : client.responses.parse(asked))
      expect(parsed.output_parsed).to.deep.equal({ city: 'Ulm' })
    })

    it(`says why a response is incomplete, and what is a refusal${streamed}`, async () => {
      const { client, open } = fixture
      const cut = openaiReply({ text: 'Once upon', finish: 'length' })
      open.reply(stream ? sse(cut.stream) : json(cut.whole))
      const asked = { model: 'open/gpt', input: 'Tell.' }
      const first = await (stream ? client.responses.stream(asked).finalResponse() : client.responses.create(asked))
      expect([first.status, first.incomplete_details]).to.deep.equal(['incomplete', { reason: 'max_output_tokens' }])
      expect(first.output[0]).to.include({ status: 'incomplete' })
      const no = openaiReply({ refusal: 'I will not.' })
      open.reply(stream ? sse(no.stream) : json(no.whole))
      const { output } = await (stream ? client.responses.stream(asked).finalResponse() : client.responses.create(asked))
      expect(output[0]).to.have.nested.include({ 'content[0].type': 'refusal', 'content[0].refusal': 'I will not.' })
    })
  }

  it('streams the events of the API, and of a client that listens to them', async () => {
    const { client, open, gateway } = fixture
    const { stream: events } = openaiReply({ reasoning: 'Hm.', text: 'Hello', tools: [CALLED] })
    open.reply(sse(events))
    const texts: string[] = []
    const stream = client.responses.stream({ model: 'open/gpt', input: 'Hi', tools: [TOOL] })
    stream.on('response.output_text.delta', ({ delta }) => texts.push(delta))
    expect((await stream.finalResponse()).output).to.have.length(3)
    expect(texts).to.deep.equal(['Hel', 'lo'])
    open.reply(sse(events))
    const raw = await gateway.fetch('/v1/responses', { json: { model: 'open/gpt', input: 'Hi', stream: true } })
    const { output, status } = readResponseStream(await raw.text())
    expect([output.map(({ type }) => type), status]).to.deep.equal([['reasoning', 'message', 'function_call'], 'completed'])
    expect(readState(output[0]!.encrypted_content)).to.deep.equal({
      owner: { name: new URL(open.origin).host, model: 'gpt' },
      field: 'reasoning_content',
    })
  })

  it('gives sources and log probabilities of a text', async () => {
    const { client, open } = fixture
    const { whole } = openaiReply({ text: 'Hi' })
    const cited = { start_index: 0, end_index: 2, title: 'A', url: 'https://a.example' }
    const token = { token: 'Hi', logprob: -0.5, bytes: [72, 105] }
    const [choice] = whole.choices
    const message = { ...choice!.message, annotations: [{ type: 'url_citation', url_citation: cited }] }
    const logprobs = { content: [{ ...token, top_logprobs: [token] }] }
    const asked = open.reply(json({ ...whole, choices: [{ ...choice!, message, logprobs }] }))
    const { output } = await client.responses.create({
      model: 'open/gpt',
      input: 'Hi',
      include: ['message.output_text.logprobs'],
      top_logprobs: 1,
    })
    expect((await asked).json()).to.include({ logprobs: true, top_logprobs: 1 })
    expect(output[0])
      .to.have.property('content')
      .that.deep.equals([
        {
          type: 'output_text',
          text: 'Hi',
          annotations: [{ type: 'url_citation', ...cited }],
          logprobs: [{ ...token, top_logprobs: [token] }],
        },
      ])
  })

  it('leaves out a search of the web beside other tools, and names it', async () => {
    const { client, open } = fixture
    const asked = open.reply(json(openaiReply({ text: 'Hi' }).whole))
    const tools = [{ type: 'web_search' as const }, TOOL]
    const { response } = await client.responses.create({ model: 'open/gpt', input: 'Hi', tools }).withResponse()
    expect(response.headers.get('x-umg-params-dropped')).to.equal('tools[].web_search')
    expect((await asked).json())
      .to.have.property('tools')
      .with.length(1)
  })

  for (const [code, param, more] of [
    ['previous_response_not_found', 'previous_response_id', { previous_response_id: 'resp_1' }],
    ['item_not_found', 'input[0].id', { input: [{ type: 'item_reference', id: 'msg_1' }] }],
    ['item_not_found', 'input[1].id', { input: [{ role: 'user', content: 'Hi' }, { id: 'msg_1' }] }],
  ] as const) {
    it(`finds nothing that it has not kept, ${param}, before anything is sent`, async () => {
      const { client, open } = fixture
      const before = open.requests.length
      const body = { model: 'open/gpt', input: 'Hi', ...more } as unknown as OpenAI.Responses.ResponseCreateParamsNonStreaming
      const error = await client.responses.create(body).catch((thrown: unknown) => thrown)
      expect(error).to.include({ status: 400, code, param })
      expect(open.requests.length).to.equal(before)
    })
  }

  for (const [what, more, param] of [
    ['a tool that OpenAI runs', { tools: [{ type: 'web_search' }] }, 'tools[0].type'],
    ['a search of the web that is required', { tools: [TOOL, { type: 'web_search' }], tool_choice: 'required' }, 'tools[1].type'],
    ['a choice of such a tool', { tools: [TOOL], tool_choice: { type: 'file_search' } }, 'tool_choice'],
    ['a conversation', { conversation: 'conv_1' }, 'conversation'],
    ['a stored prompt', { prompt: { id: 'pmpt_1' } }, 'prompt'],
    ['a response in the background', { background: true }, 'background'],
    [
      'an item of a tool that chat completions do not have',
      { input: [{ type: 'computer_call', call_id: 'c', actions: [] }] },
      'input[0]',
    ],
    [
      'a stored file',
      { input: [{ role: 'user', content: [{ type: 'input_file', file_id: 'f' }] }] },
      'input[0].content[0].file_id',
    ],
    ['no input', { input: undefined }, 'input'],
    ['a temperature that no upstream takes', { temperature: 3 }, 'temperature'],
    ['an item without its text', { input: [{ role: 'user', content: [{ type: 'input_audio' }] }] }, 'messages[0].content[0]'],
  ] as const) {
    it(`refuses ${what} before anything is sent`, async () => {
      const { client, open } = fixture
      const before = open.requests.length
      const body = { model: 'open/gpt', input: 'Hi', ...more } as unknown as OpenAI.Responses.ResponseCreateParamsNonStreaming
      const error = await client.responses.create(body).catch((thrown: unknown) => thrown)
      expect(error).to.be.instanceOf(BadRequestError)
      expect((error as BadRequestError).message).to.contain(`'${param}`)
      expect(open.requests.length).to.equal(before)
    })
  }

  it("names what a provider refuses by the client's name", async () => {
    const { client } = fixture
    const format = { type: 'json_schema' as const, name: 'answer', schema: { type: 'string' } }
    const body = { model: 'claude/claude-sonnet-4-20250514', input: 'Hi', text: { format } }
    const error = await client.responses.create(body).catch((thrown: unknown) => thrown)
    expect(error).to.be.instanceOf(BadRequestError).with.property('param', 'text.format.schema')
    expect(String(error)).to.contain("'text.format.schema'").and.not.contain('response_format')
  })

  it('is answered by the sandbox with a test key', async () => {
    const { gateway } = fixture
    const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.testKey })
    const reply = await client.responses.stream({ model: 'open/gpt', input: 'Hello' }).finalResponse()
    expect(reply.status).to.equal('completed')
    expect(reply.output_text).to.not.equal('')
  })
})

const PICTURE = { type: 'input_image' as const, image_url: 'data:image/png;base64,AAAA', detail: 'auto' as const }

const said = (text: string) => ({ type: 'output_text' as const, text, annotations: [] })
const refused = (refusal: string) => ({ type: 'refusal' as const, refusal })
