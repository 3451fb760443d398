import { expect } from 'chai'
import { json, type ReceivedRequest, type ScriptedUpstream, scriptedUpstream } from 'unified-model-gateway/plugin/testing'
import { startTestGateway, type TestGateway } from '../../../support/gateway.ts'
import { failure, reply } from '../gemini/generate-content.ts'
import { onGoogleCloud } from './google-cloud.ts'

const TOOL = { type: 'function', function: { name: 'look' } }
const GEMINI = reply([{ text: 'Hi.' }]).whole
const CLAUDE = { type: 'message', content: [{ type: 'text', text: 'Hi.' }], stop_reason: 'end_turn' }

describe('vertex: in a gateway', () => {
  onGoogleCloud()
  let upstream: ScriptedUpstream
  let gateway: TestGateway
  let asked: ReceivedRequest[]

  beforeEach(async () => {
    asked = []
    upstream = await scriptedUpstream()
    const config = { project: 'acme-ai', region: 'us-east5', baseUrl: upstream.origin }
    gateway = await startTestGateway({
      routes: { chain: [{ plugin: 'auth' }], namespaces: { vertex: { provider: 'vertex', config } } },
    })
  })

  afterEach(async () => {
    await gateway?.stop()
    await upstream?.close()
  })

  it('replaces a refused token without an error for the client', async () => {
    const refusal = failure(401, 'UNAUTHENTICATED', 'Request had invalid authentication credentials.')
    upstream.on((request) => {
      asked.push(request)
      return asked.length === 1 ? json(refusal.body, { status: 401 }) : json(GEMINI)
    })
    const completion = await gateway.openai().chat.completions.create({
      model: 'vertex/gemini-2.5-pro',
      messages: [{ role: 'user', content: 'Hello' }],
    })
    expect(completion.choices[0]!.message.content).to.equal('Hi.')
    expect(asked.map(({ headers }) => headers.authorization)).to.deep.equal(['Bearer token-1', 'Bearer token-2'])
  })

  it('makes pictures with the models of Google that can', async () => {
    const picture = { inlineData: { mimeType: 'image/png', data: 'Zm94' } }
    const sent = upstream.reply(json(reply([picture]).whole))
    const sdk = gateway.openai().withOptions({ maxRetries: 0 })
    const { data } = await sdk.images.generate({ model: 'vertex/gemini-3-pro-image', prompt: 'A fox' })
    expect(data).to.deep.equal([{ b64_json: 'Zm94' }])
    const { path, headers } = await sent
    expect(path).to.equal(
      '/v1beta1/projects/acme-ai/locations/us-east5/publishers/google/models/gemini-3-pro-image:generateContent',
    )
    expect(headers.authorization).to.match(/^Bearer token-/)
    for (const model of ['claude-opus-4-6', 'gemini-2.5-pro', 'a/../b-image']) {
      const failure = await sdk.images.generate({ model: `vertex/${model}`, prompt: 'A fox' }).catch((error: unknown) => error)
      expect(failure, model).to.include({ status: 400, code: 'unsupported_endpoint' })
    }
  })

  it('gets the values of anthropic-beta that Vertex AI takes; the others are named', async () => {
    const ask = async (beta: string) => {
      const sent = upstream.reply(json({ ...CLAUDE, usage: { input_tokens: 1, output_tokens: 1 } }))
      const json_ = { model: 'vertex/claude-opus-4-6', max_tokens: 9, messages: [{ role: 'user', content: 'Hello' }] }
      const { headers } = await gateway.fetch('/v1/messages', { json: json_, headers: { 'anthropic-beta': beta } })
      return { sent: (await sent).headers['anthropic-beta'], dropped: headers.get('x-umg-params-dropped') }
    }
    expect(await ask('context-1m-2025-08-07, prompt-caching-scope-2026-01-05,advanced-tool-use-2025-11-20')).to.deep.equal({
      sent: 'context-1m-2025-08-07,tool-search-tool-2025-10-19',
      dropped: 'anthropic-beta.prompt-caching-scope-2026-01-05',
    })
    expect(await ask('not one')).to.deep.equal({ sent: undefined, dropped: 'anthropic-beta' })
    expect(await ask('context-1m-2025-08-07')).to.deep.equal({ sent: 'context-1m-2025-08-07', dropped: null })
  })

  it('drops, refuses or sends a parameter according to the model', async () => {
    upstream.on(({ path }) => json(path.includes('/anthropic/') ? CLAUDE : GEMINI))
    const ask = (model: string, more: object) =>
      gateway.fetch('/v1/chat/completions', {
        json: { model: `vertex/${model}`, messages: [{ role: 'user', content: 'Hello' }], ...more },
      })
    const droppedOf = async (model: string) =>
      (await ask(model, { tools: [TOOL], parallel_tool_calls: false })).headers.get('x-umg-params-dropped')
    expect(await droppedOf('gemini-2.5-pro')).to.equal('parallel_tool_calls')
    expect(await droppedOf('claude-opus-4-6')).to.equal(null)

    expect((await ask('gemini-2.5-pro', { n: 2 })).status).to.equal(200)
    const refused = await ask('claude-opus-4-6', { n: 2 })
    expect(refused.status).to.equal(400)
    expect(await refused.json()).to.nested.include({ 'error.code': 'unsupported_parameter', 'error.param': 'n' })
  })
})
