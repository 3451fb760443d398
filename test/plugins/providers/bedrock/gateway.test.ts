// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${…} is the syntax of routes.yaml
import Anthropic from '@anthropic-ai/sdk'
import { expect } from 'chai'
import { json, type ReceivedRequest, type ScriptedUpstream, scriptedUpstream } from 'unified-model-gateway/plugin/testing'
import { startTestGateway, type TestGateway } from '../../../support/gateway.ts'
import { chunkOf, chunks, errorFrame, invokeModel } from './invoke-model.ts'
import { exception } from './support.ts'

const SONNET = 'us.anthropic.claude-sonnet-4-6'
const OPUS = 'us.anthropic.claude-opus-5'
const ARN = 'arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-opus-5'
const OURS = 'arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/ab12cd34'

const USAGE = { input_tokens: 12, cache_creation_input_tokens: 0, cache_read_input_tokens: 4, output_tokens: 7 }
const HEAD = { id: 'msg_bdrk_01', type: 'message', role: 'assistant', model: 'claude-sonnet-4-6', stop_sequence: null }
const MESSAGE = { ...HEAD, content: [{ type: 'text', text: 'Grüße' }], stop_reason: 'end_turn', usage: USAGE }
const EVENTS = [
  {
    type: 'message_start',
    message: { ...HEAD, content: [], stop_reason: null, usage: { ...USAGE, output_tokens: 1 } },
  },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Grüße' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 7 } },
  { type: 'message_stop', 'amazon-bedrock-invocationMetrics': { inputTokenCount: 12, outputTokenCount: 7 } },
] as const

const ASKED = { max_tokens: 100, messages: [{ role: 'user' as const, content: 'Hello' }] }

/** What only Claude's own API has. */
const NATIVE = {
  ...ASKED,
  top_k: 5,
  context_management: { edits: [{ type: 'clear_tool_uses_20250919' }] },
  tools: [
    { type: 'bash_20250124' as const, name: 'bash' as const },
    { type: 'text_editor_20250728' as const, name: 'str_replace_based_edit_tool' as const },
    {
      name: 'look',
      input_schema: { type: 'object' as const },
      cache_control: { type: 'ephemeral' as const, ttl: '1h' as const },
    },
  ],
  messages: [
    {
      role: 'user' as const,
      content: [
        {
          type: 'document' as const,
          source: { type: 'text' as const, media_type: 'text/plain' as const, data: 'Rain.' },
          citations: { enabled: true },
        },
      ],
    },
    { role: 'assistant' as const, content: [{ type: 'tool_use' as const, id: 'toolu_1', name: 'look', input: {} }] },
    {
      role: 'user' as const,
      content: [
        {
          type: 'tool_result' as const,
          tool_use_id: 'toolu_1',
          is_error: true,
          content: [
            { type: 'image' as const, source: { type: 'base64' as const, media_type: 'image/png' as const, data: 'iVBO' } },
          ],
        },
      ],
    },
  ],
}

describe('bedrock: Claude, by clients of the Messages API', () => {
  let upstream: ScriptedUpstream
  let gateway: TestGateway
  let client: Anthropic
  let asked: ReceivedRequest[]
  const speak = invokeModel({ whole: MESSAGE, stream: EVENTS })

  before(async () => {
    upstream = await scriptedUpstream()
    const config = { region: 'us-east-1', apiKey: '${env:KEY}', baseUrl: upstream.origin }
    const namespace = (more: object) => ({ provider: 'bedrock', breaker: false, config: { ...config, ...more } })
    gateway = await startTestGateway({
      env: { KEY: 'bedrock-api-key' },
      routes: {
        chain: [{ plugin: 'auth' }],
        namespaces: {
          aws: namespace({ facts: { '*/ab12cd34': { messages: 'versions' } } }),
          guarded: namespace({ guardrail: { id: 'gr-1', version: '3' }, betas: ['interleaved-thinking-*'] }),
        },
      },
    })
    client = new Anthropic({ baseURL: gateway.url, apiKey: gateway.liveKey, maxRetries: 0 })
  })

  beforeEach(() => {
    asked = []
    upstream.on((request) => {
      asked.push(request)
      return speak(request)
    })
  })

  after(async () => {
    await gateway?.stop()
    await upstream?.close()
  })

  const bodyOf = (index = 0) => asked[index]!.json() as Readonly<Record<string, unknown>>

  it('is sent by InvokeModel with all that the client has sent, and its betas; the reply comes back unchanged', async () => {
    const betas = { headers: { 'anthropic-version': '2023-06-01', 'anthropic-beta': 'context-1m-2025-08-07' } }
    const params = { model: `aws/${SONNET}`, ...NATIVE } as Anthropic.MessageCreateParamsNonStreaming
    const { data, response } = await client.messages.create(params, betas).withResponse()
    expect(data).to.deep.equal(MESSAGE)
    expect(response.headers.get('x-umg-params-dropped')).to.equal(null)
    expect(asked[0]!.path).to.equal(`/model/${SONNET}/invoke`)
    expect(bodyOf()).to.deep.equal({
      ...NATIVE,
      anthropic_version: 'bedrock-2023-05-31',
      anthropic_beta: ['context-1m-2025-08-07'],
    })
  })

  it('is streamed, and logged with its tokens', async () => {
    const json_ = { model: `aws/${ARN}`, ...ASKED, stream: true }
    const reply = await gateway.fetch('/v1/messages', { json: json_ })
    const frames = EVENTS.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    expect(await reply.text()).to.equal(frames.join(''))
    expect(reply.headers.get('content-type')).to.contain('text/event-stream')
    expect(asked[0]!.path).to.equal(`/model/${encodeURIComponent(ARN)}/invoke-with-response-stream`)
    const line = await gateway.logged(({ id }) => id === reply.headers.get('request-id'))
    expect(line).to.deep.include({ outcome: 'ok', estimated: false })
    expect(line.tokens).to.include({ input: 16, output: 7, cached_input: 4 })
    const message = await client.messages.stream({ model: `aws/${OURS}`, ...ASKED }).finalMessage()
    expect(message.content).to.deep.equal(MESSAGE.content)
  })

  it("has the client's version for models that take it, and Bedrock's own for others", async () => {
    for (const [model, version, expected] of [
      [SONNET, '2023-06-01', 'bedrock-2023-05-31'],
      [SONNET, '2026-10-21', 'bedrock-2023-05-31'],
      [OPUS, '2023-06-01', 'bedrock-2023-05-31'],
      [OPUS, '2026-10-21', '2026-10-21'],
    ] as const) {
      asked = []
      const headers = { 'anthropic-version': version }
      const reply = await gateway.fetch('/v1/messages', { json: { model: `aws/${model}`, ...ASKED }, headers })
      expect(reply.status).to.equal(200)
      expect(bodyOf()).to.include({ anthropic_version: expected })
    }
  })

  it('has the betas that Bedrock takes, by its names; the others are named', async () => {
    const beta = 'prompt-caching-scope-2026-01-05,advanced-tool-use-2025-11-20,interleaved-thinking-2025-05-14'
    const ask = (namespace: string) =>
      gateway.fetch('/v1/messages', { json: { model: `${namespace}/${SONNET}`, ...ASKED }, headers: { 'anthropic-beta': beta } })
    const { headers } = await ask('aws')
    expect(bodyOf().anthropic_beta).to.deep.equal(['tool-search-tool-2025-10-19'])
    expect(headers.get('x-umg-params-dropped')).to.equal(
      'anthropic-beta.prompt-caching-scope-2026-01-05, anthropic-beta.interleaved-thinking-2025-05-14',
    )
    upstream.on((request) => {
      asked.push(request)
      return json(MESSAGE)
    })
    await ask('guarded')
    expect(bodyOf(1).anthropic_beta).to.deep.equal(['interleaved-thinking-2025-05-14'])
  })

  it('is under the guardrail of the namespace', async () => {
    await client.messages.create({ model: `guarded/${SONNET}`, ...ASKED })
    expect(asked[0]!.headers).to.include({
      'x-amzn-bedrock-guardrailidentifier': 'gr-1',
      'x-amzn-bedrock-guardrailversion': '3',
    })
  })

  it('counts its tokens by the id of the model, and by an estimate where Bedrock does not count', async () => {
    const thinking = { type: 'enabled' as const, budget_tokens: 2000 }
    const params = { messages: ASKED.messages, thinking }
    expect(await client.messages.countTokens({ model: `aws/${ARN}`, ...params })).to.deep.equal({ input_tokens: 14 })
    expect(asked[0]!.path).to.equal('/model/anthropic.claude-opus-5/count-tokens')
    const { input } = bodyOf() as { readonly input: { readonly invokeModel: { readonly body: string } } }
    const counted = JSON.parse(Buffer.from(input.invokeModel.body, 'base64').toString())
    expect(counted).to.deep.equal({ ...params, anthropic_version: '2026-10-21', max_tokens: 2001 })
    const { input_tokens: estimated } = await client.messages.countTokens({ model: `aws/${OURS}`, ...params })
    expect(estimated).to.be.within(5, 13)
    expect(asked).to.have.length(2)
  })

  it('fails as Bedrock says, also within a stream', async () => {
    const failed = async (stream: boolean) =>
      (stream
        ? client.messages.stream({ model: `aws/${SONNET}`, ...ASKED }).finalMessage()
        : client.messages.create({ model: `aws/${SONNET}`, ...ASKED })
      ).catch((thrown: unknown) => String(thrown))
    const headers = { 'x-amzn-errortype': 'ThrottlingException' }
    upstream.on(() => json({ message: 'Too many requests.' }, { status: 429, headers }))
    expect(await failed(false)).to.contain('rate_limit_error')
    const begun = EVENTS.slice(0, 3).map((one) => chunkOf(one))
    for (const frame of [exception('serviceUnavailableException', 'Busy.'), errorFrame('ServiceUnavailableException', 'Busy.')]) {
      upstream.on(() => chunks([...begun, frame]))
      expect(await failed(true)).to.contain('overloaded_error')
    }
    upstream.on(() => chunks(begun))
    expect(await failed(true)).to.contain('api_error')
    upstream.on(() => chunks([...begun, chunkOf({ type: 'error', error: { type: 'overloaded_error', message: 'Busy.' } })]))
    expect(await failed(true)).to.contain('overloaded_error')
  })

  it('cannot write further events into the stream by a line break', async () => {
    const [start, block, ...rest] = EVENTS.map((one) => chunkOf(one))
    const spaced = JSON.stringify(EVENTS[2]).replace(',', '\n\nevent: error\ndata: {"type":"error"}\n\n,')
    upstream.on(() => chunks([start!, block!, chunkOf(spaced), ...rest.slice(1)]))
    const reply = await gateway.fetch('/v1/messages', { json: { model: `aws/${SONNET}`, ...ASKED, stream: true } })
    expect(await reply.text()).not.to.match(/^event: error$/m)
  })
})
