import { expect } from 'chai'
import type { TObject } from 'typebox'
import { dropped, GatewayError, type Host, type Provider } from 'unified-model-gateway/plugin'
import { createProvider, runTranslator, testHost } from 'unified-model-gateway/plugin/testing'
import { parameters as claudeParameters } from '../../../../plugins/providers/anthropic/request.ts'
import { parameters as geminiParameters } from '../../../../plugins/providers/gemini/request.ts'
import plugin from '../../../../plugins/providers/vertex/index.ts'
import { namesIn, providerPage } from '../../../support/provider-page.ts'
import { call, failure, reply } from '../gemini/generate-content.ts'
import { onGoogleCloud } from './google-cloud.ts'
import { bodyOf, send, vertex } from './vertex.ts'

const messages = (...more: readonly object[]) => ({ messages: [{ role: 'user', content: 'Hi' }, ...more] })
const step = (extra_content?: object) => [
  {
    role: 'assistant',
    content: null,
    tool_calls: [
      { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{}' }, ...(extra_content && { extra_content }) },
    ],
  },
  { role: 'tool', tool_call_id: 'call_1', content: 'Sky.' },
]

describe('vertex: a Gemini', () => {
  onGoogleCloud()

  it('is sent a request of the Gemini API without ids of calls', async () => {
    const request = await send(await vertex(), { model: 'v/gemini-2.5-pro', ...messages(...step()), temperature: 0.5 })
    expect(bodyOf(request)).to.deep.equal({
      contents: [
        { role: 'user', parts: [{ text: 'Hi' }] },
        { role: 'model', parts: [{ functionCall: { name: 'look', args: {} } }] },
        { role: 'user', parts: [{ functionResponse: { name: 'look', response: { output: 'Sky.' } } }] },
      ],
      generationConfig: { temperature: 0.5 },
    })
  })

  it('has another method for streams', async () => {
    const { path } = await send(await vertex(), { model: 'v/gemini-2.5-pro', stream: true })
    expect(path).to.match(/:streamGenerateContent\?alt=sse$/)
  })

  it('has facts for Vertex AI only', async () => {
    const { dropped } = await send(await vertex(), { model: 'v/gemini-2.5-pro', frequency_penalty: 1 })
    expect(dropped).to.deep.equal([])
  })

  it('has the configured facts first', async () => {
    const facts = { 'gemini-3.8-*': { sampling: true } }
    const request = await send(await vertex({ facts }), { model: 'v/google/gemini-3.8-flash', temperature: 0.5 })
    expect(bodyOf(request)).to.nested.include({ 'generationConfig.temperature': 0.5 })
  })

  it('gets its signatures back in the second turn', async () => {
    const provider = await vertex()
    const signed = reply([call('look', {}, { thoughtSignature: 'c2lnbmVk' })])
    const [made] = runTranslator(provider, { whole: signed.whole }, { model: 'v/gemini-3-pro-preview' }).choices[0]!.message
      .tool_calls!
    const request = await send(provider, { model: 'v/gemini-3-pro-preview', ...messages(...step(made!.extra_content)) })
    expect(bodyOf(request)).to.nested.include({ 'contents[1].parts[0].thoughtSignature': 'c2lnbmVk' })
  })
})

describe('vertex: a Claude', () => {
  onGoogleCloud()

  const MODEL = 'v/claude-opus-4-5@20251101'

  it('is sent a request of Anthropic with the version in the body and the model in the path', async () => {
    const request = await send(await vertex({ region: 'us-east5' }), { model: MODEL, max_tokens: 100 })
    expect(request.path).to.match(/\/publishers\/anthropic\/models\/claude-opus-4-5@20251101:rawPredict$/)
    expect(bodyOf(request)).to.deep.equal({
      anthropic_version: 'vertex-2023-10-16',
      max_tokens: 100,
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello' }] }],
    })
    expect(request.headers).not.to.have.any.keys('x-api-key', 'anthropic-version')
  })

  it('has the configured facts first', async () => {
    const facts = { 'claude-opus-4-5-*': { maxTokens: 2000 }, '*': { sampling: false } }
    expect(bodyOf(await send(await vertex({ facts }), { model: MODEL }))).to.include({ max_tokens: 2000 })
  })

  it('has the facts of rows for Claudes only', async () => {
    const failure = await vertex({ facts: { 'claude-*': { penalties: true } } }).catch((error: unknown) => error)
    expect(String(failure)).to.contain('the config of vertex/facts/claude-*')
  })

  it('has another method and a member of the body for streams', async () => {
    const request = await send(await vertex(), { model: MODEL, stream: true })
    expect(request.path).to.match(/:streamRawPredict$/)
    expect(bodyOf(request)).to.include({ stream: true })
  })

  it('has the facts of its name, without the part after the @', async () => {
    for (const name of ['claude-opus-4-6@default', 'claude-opus-4-6']) {
      const request = await send(await vertex(), { model: `v/${name}`, reasoning_effort: 'high' })
      expect(bodyOf(request), name).to.deep.include({ thinking: { type: 'adaptive', display: 'summarized' } })
    }
  })

  it('gets its thinking back in the second turn, although its replies spell its name differently', async () => {
    const provider = await vertex()
    const thinking = { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' }
    const whole = {
      type: 'message',
      model: 'claude-opus-4-5-20251101',
      content: [thinking, { type: 'tool_use', id: 'call_1', name: 'look', input: {} }],
      stop_reason: 'tool_use',
    }
    const [made] = runTranslator(provider, { whole }, { model: MODEL }).choices[0]!.message.tool_calls!
    const asked = { model: MODEL, reasoning_effort: 'high', ...messages(...step(made!.extra_content)) }
    const { messages: sent } = bodyOf(await send(provider, asked)) as { messages: { content: object[] }[] }
    expect(sent[1]!.content[0]).to.deep.equal(thinking)
  })

  it('streams events of Anthropic', async () => {
    const events = [
      { type: 'message_start', message: { id: 'msg_1', model: 'claude', usage: { input_tokens: 3, output_tokens: 1 } } },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'Hi.' } },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } },
      { type: 'message_stop' },
    ]
    const stream = events.map((data) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`)
    const { chunks, done, usage } = runTranslator(await vertex(), { stream }, { model: MODEL })
    expect(done).to.equal(true)
    expect(chunks[1]!.choices[0]!.delta).to.deep.equal({ content: 'Hi.' })
    expect(usage).to.include({ total_tokens: 5 })
  })
})

describe('vertex: parameters', () => {
  const tableOf = ({ parameters }: Provider, model: string) => (typeof parameters === 'function' ? parameters(model) : parameters)

  it("are those of the model's publisher", async () => {
    const provider = await vertex()
    expect(tableOf(provider, 'gemini-2.5-pro')).to.equal(geminiParameters)
    expect(tableOf(provider, 'claude-opus-4-5@20251101')).to.deep.include({
      top_k: claudeParameters.top_k,
      service_tier: dropped,
    })
    expect(tableOf(provider, 'anthropic/claude-opus-4-6')).to.have.property('service_tier', dropped)
  })

  it('of the configuration are on its docs page', () => {
    expect(namesIn(providerPage('vertex'), 'option')).to.have.members(Object.keys((plugin.schema as TObject).properties))
  })

  it('of an invalid model are refused with the model', async () => {
    const refusal = await send(await vertex(), { model: 'v/../x' }).catch((error: unknown) => error)
    expect(refusal).to.be.instanceOf(GatewayError).that.includes({ row: 'model_not_found', status: 404 })
  })
})

describe('vertex: an error reply', () => {
  const refusal = async (status: number, body: unknown) =>
    (await vertex()).error!({ status, headers: {}, body: typeof body === 'string' ? body : JSON.stringify(body) })

  it('of a Gemini is read as an error of Google', async () => {
    const { body } = failure(429, 'RESOURCE_EXHAUSTED', 'Quota exceeded.', [{ retryDelay: '7s' }])
    expect(await refusal(429, body)).to.deep.equal({ status: 429, message: 'Quota exceeded.', retryAfter: 7 })
  })

  it('of a Claude is read as an error of Anthropic', async () => {
    const body = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }
    expect(await refusal(529, body)).to.deep.equal({ status: 503, message: 'Overloaded' })
  })

  it('does not contain the project', async () => {
    const { body } = failure(400, 'INVALID_ARGUMENT', 'Invalid resource projects/acme-ai/locations/x in acme-ai')
    expect((await refusal(400, body)).message).to.equal('Invalid resource projects/…/locations/x in …')
  })

  it('of a proxy is read by its status', async () => {
    expect(await refusal(502, '<html>')).to.deep.equal({ status: 502 })
  })
})

describe('vertex: the list of models', () => {
  onGoogleCloud()

  /** The listed models for these replies of the publishers. */
  async function listed(answers: Readonly<Record<'google' | 'anthropic', unknown>>) {
    const asked: string[] = []
    const getJson: Host['getJson'] = async (url) => {
      asked.push(url)
      const answer = answers[url.includes('/publishers/google/') ? 'google' : 'anthropic']
      if (answer instanceof Error) throw answer
      return answer
    }
    const provider = await createProvider(plugin, { project: 'acme-ai' }, testHost({ getJson }))
    return { asked, models: await provider.models!(new AbortController().signal) }
  }

  const page = (...models: readonly object[]) => ({ publisherModels: models })
  const GOOGLE = page(
    { name: 'publishers/google/models/gemini-2.5-pro' },
    { name: 'publishers/google/models/gemini-embedding-001' },
    { name: 'publishers/google/models/gemini-2.5-flash-preview-tts' },
    { name: 'publishers/google/models/imagen-4.0' },
    { name: 7 },
  )
  const ANTHROPIC = page(
    { name: 'publishers/anthropic/models/claude-opus-4-5', versionId: '20251101' },
    { name: 'publishers/anthropic/models/claude-opus-4-6', versionId: 'default' },
  )

  it('has the chat models of both publishers, with their context length if known', async () => {
    const { models, asked } = await listed({ google: GOOGLE, anthropic: ANTHROPIC })
    expect(models).to.deep.equal([
      { id: 'gemini-2.5-pro', owned_by: 'google', context_length: 1_048_576 },
      { id: 'claude-opus-4-5@20251101', owned_by: 'anthropic' },
      { id: 'claude-opus-4-6', owned_by: 'anthropic' },
    ])
    expect(asked).to.deep.equal([
      'https://aiplatform.googleapis.com/v1beta1/publishers/google/models?pageSize=100',
      'https://aiplatform.googleapis.com/v1beta1/publishers/anthropic/models?pageSize=100',
    ])
  })

  it('has the models of one publisher if the other list fails', async () => {
    const { models } = await listed({ google: GOOGLE, anthropic: new Error('GET …: status 403') })
    expect(models.map(({ id }) => id)).to.deep.equal(['gemini-2.5-pro'])
  })

  it('fails if both lists fail', async () => {
    const failed = await listed({ google: new Error('GET …: status 401'), anthropic: new Error('GET …: status 401') }).catch(
      (error) => error,
    )
    expect(String(failed)).to.contain('status 401')
  })

  it('ends after a limit of pages', async () => {
    const { asked } = await listed({ google: { nextPageToken: 'again' }, anthropic: null })
    expect(asked).to.have.lengthOf(3)
  })
})
