import { expect } from 'chai'
import { APIError } from 'openai'
import { FIN, json, RST, type ScriptedUpstream, scriptedUpstream, sse } from '../../../core/testing/kit.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { rawHttp } from '../../support/raw-http.ts'

const USAGE = {
  input_tokens: 11,
  input_tokens_details: { cached_tokens: 4 },
  output_tokens: 7,
  output_tokens_details: { reasoning_tokens: 2 },
  total_tokens: 18,
}

const response = (parts: object = {}) => ({
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  status: 'completed',
  model: 'gpt-5.5',
  error: null,
  output: [
    {
      type: 'message',
      id: 'msg_1',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'Grüße', annotations: [] }],
    },
  ],
  usage: USAGE,
  ...parts,
})

const event = (type: string, fields: object): string => `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`
const CREATED = event('response.created', {
  sequence_number: 0,
  response: response({ status: 'in_progress', usage: null, output: [] }),
})
const DELTAS = ['Grü', 'ße'].map((delta, index) =>
  event('response.output_text.delta', { sequence_number: index + 1, item_id: 'msg_1', output_index: 0, content_index: 0, delta }),
)
const COMPLETED = event('response.completed', { sequence_number: 3, response: response() })
/** What is not kept has the ids of its upstream. */
const ASKED = { model: 'open/gpt-5.5', input: 'Hi', store: false }

/** What the SDK raises in the middle of a stream. */
async function raised(stream: AsyncIterable<unknown>): Promise<unknown> {
  try {
    for await (const _ of stream);
  } catch (error) {
    return error
  }
  return expect.fail('the stream ended as if all were well')
}

describe('POST /v1/responses, to an upstream that has it', () => {
  let gateway: TestGateway
  let upstream: ScriptedUpstream

  before(async () => {
    upstream = await scriptedUpstream()
    const second = {
      provider: 'openai-compatible',
      breaker: false,
      config: { baseUrl: `${upstream.origin}/v2`, responses: true },
    }
    gateway = await startTestGateway({
      routes: {
        chain: [{ plugin: 'auth' }],
        namespaces: {
          open: {
            provider: 'openai-compatible',
            breaker: false,
            keptObjects: 'allow',
            config: { baseUrl: `${upstream.origin}/v1`, responses: true },
          },
          second,
          acme: { models: { smart: { targets: [{ model: 'open/a' }], fallbacks: ['second/b'] } } },
        },
      },
    })
  })

  after(async () => {
    await gateway?.stop()
    await upstream?.close()
  })

  it("returns the upstream's response byte for byte to the SDK", async () => {
    const asked = upstream.reply(json(response()))
    const reply = await gateway.openai().responses.create(ASKED)
    expect([reply.output_text, reply.usage]).to.deep.equal(['Grüße', USAGE])
    const request = await asked
    expect([request.path, request.json()]).to.deep.equal(['/v1/responses', { model: 'gpt-5.5', input: 'Hi', store: false }])
    const line = await gateway.logged(({ endpoint, stream }) => endpoint === 'responses' && stream === false)
    expect(line.tokens).to.deep.equal({ input: 11, output: 7, cached_input: 4, reasoning: 2 })
  })

  it('streams every event unchanged, and nothing after the last one', async () => {
    const text = CREATED + DELTAS.join('') + COMPLETED
    upstream.reply(sse([text]))
    const raw = await rawHttp(`${gateway.url}/v1/responses`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.liveKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...ASKED, stream: true }),
    })
    expect([await raw.text(), raw.complete]).to.deep.equal([text, true])
    upstream.reply(sse([text]))
    const types: string[] = []
    for await (const { type } of await gateway.openai().responses.create({ ...ASKED, stream: true })) types.push(type)
    expect(types).to.deep.equal([
      'response.created',
      'response.output_text.delta',
      'response.output_text.delta',
      'response.completed',
    ])
    const line = await gateway.logged(({ endpoint, stream }) => endpoint === 'responses' && stream === true)
    expect(line).to.deep.include({ outcome: 'ok', tokens: { input: 11, output: 7, cached_input: 4, reasoning: 2 } })
  })

  /** Events by the position of their type. vLLM writes it last. */
  const ORDERS: Readonly<Record<string, (type: string, fields: object) => string>> = {
    'last, and SSE names it': (type, fields) => `event: ${type}\ndata: ${JSON.stringify({ ...fields, type })}\n\n`,
    'last, and SSE does not': (type, fields) => `data: ${JSON.stringify({ ...fields, type })}\n\n`,
    'in the middle': (type, fields) => `data: ${JSON.stringify({ sequence_number: 0, type, ...fields })}\n\n`,
    'in SSE alone': (type, fields) => `event: ${type}\ndata: ${JSON.stringify(fields)}\n\n`,
  }
  const QUOTING = { content_index: 0, delta: '"type":"error"} {"type": "response.completed"}', output_index: 0 }

  for (const [where, write] of Object.entries(ORDERS)) {
    it(`reads the type of an event: ${where}`, async () => {
      const text = [
        write('response.created', { response: response({ status: 'in_progress', usage: null, output: [] }) }),
        write('response.output_text.delta', QUOTING),
        write('response.completed', { response: response() }),
      ]
      upstream.reply(sse([text.join('')]))
      const got = await gateway.fetch('/v1/responses', { json: { ...ASKED, stream: true } })
      expect(await got.text()).to.equal(text.join(''))
      const line = await gateway.logged(({ id }) => id === got.headers.get('x-request-id'))
      expect(line).to.deep.include({ outcome: 'ok', estimated: false })
      upstream.reply(sse([...text.slice(0, 2), FIN]))
      expect(await raised(await gateway.openai().responses.create({ ...ASKED, stream: true }))).to.include({
        code: 'upstream_disconnected',
      })
    })

    it(`holds events without content, so that a failure then never reaches the client: ${where}`, async () => {
      upstream.reply(sse([write('response.created', { response: response() }), write('response.in_progress', {}), RST]))
      upstream.reply(sse([CREATED + COMPLETED]))
      const stream = await gateway.openai().responses.create({ ...ASKED, model: 'acme/smart', stream: true })
      const events = await Array.fromAsync(stream)
      expect(events).to.have.length(2)
    })
  }

  for (const [name, text] of [
    [
      'of the kind of chat completions',
      `data: ${JSON.stringify({ error: { message: 'no', type: 'server_error', code: 503 } })}\n\n`,
    ],
    ['of its own kind', event('error', { code: 'rate_limit_exceeded', message: 'no', param: null })],
  ] as const) {
    it(`falls back if the first target sends an error ${name}`, async () => {
      upstream.reply(sse([CREATED + text]))
      upstream.reply(sse([CREATED + COMPLETED]))
      const stream = await gateway.openai().responses.create({ ...ASKED, model: 'acme/smart', stream: true })
      expect(await Array.fromAsync(stream)).to.have.length(2)
    })
  }

  it('accepts a stored prompt or conversation as its input', async () => {
    const asked = upstream.reply(json(response()))
    await gateway.openai().responses.create({ model: 'open/gpt-5.5', prompt: { id: 'pmpt_1' } })
    expect((await asked).json()).to.deep.equal({ model: 'gpt-5.5', prompt: { id: 'pmpt_1' } })
  })

  it('falls back if the first target breaks off before any content', async () => {
    upstream.reply(sse([CREATED, RST]))
    upstream.reply(sse([CREATED + DELTAS.join('') + COMPLETED]))
    const types: string[] = []
    for await (const { type } of await gateway.openai().responses.create({ ...ASKED, model: 'acme/smart', stream: true }))
      types.push(type)
    expect(types).to.have.length(4)
    expect(upstream.requests.at(-1)!.path).to.equal('/v2/responses')
  })

  it('never makes a cut stream look finished', async () => {
    upstream.reply(sse([CREATED + DELTAS[0]!, FIN]))
    const stream = await gateway.openai().responses.create({ ...ASKED, stream: true })
    const failure = await raised(stream)
    expect(failure).to.be.instanceOf(APIError)
    expect(failure).to.include({ code: 'upstream_disconnected' })
  })

  it('reports a failed response as a failure of the upstream', async () => {
    const error = { code: 'server_error', message: 'boom' }
    upstream.reply(sse([CREATED, event('response.failed', { response: response({ status: 'failed', error }) })]))
    const stream = await gateway.openai().responses.create({ ...ASKED, stream: true })
    expect(await raised(stream)).to.include({ code: 'upstream_error', type: 'server_error' })
  })
})
