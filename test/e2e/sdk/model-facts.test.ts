// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${…} is the syntax of routes.yaml
import Anthropic from '@anthropic-ai/sdk'
import { expect } from 'chai'
import { json, type ScriptedUpstream, scriptedUpstream } from '../../../core/testing/kit.ts'
import { closedOrigin } from '../../support/closed-port.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'

const CAPABILITIES = {
  batch: { supported: true },
  image_input: { supported: true },
  pdf_input: { supported: true },
  thinking: { supported: true, types: { adaptive: { supported: true }, enabled: { supported: false } } },
  context_management: { supported: true, compact_20260112: null },
}

/** As Anthropic lists its models. */
const CLAUDE = {
  type: 'model',
  id: 'claude-opus-5-5',
  display_name: 'Claude Opus 5.5',
  created_at: '2026-09-02T00:00:00Z',
  max_input_tokens: 1_000_000,
  max_tokens: 128_000,
  capabilities: CAPABILITIES,
}

/** As OpenRouter lists models. */
const ROUTED = {
  id: 'qwen/qwen-x',
  name: 'Qwen: X',
  created: 1_760_000_000,
  context_length: 262_144,
  architecture: { modality: 'text+image->text', input_modalities: ['text', 'image'], output_modalities: ['text'] },
  top_provider: { context_length: 262_144, max_completion_tokens: 32_768, is_moderated: false },
  pricing: { prompt: '0.000001', completion: '0.000002' },
  supported_parameters: ['tools', 'temperature'],
}

type Members = Readonly<Record<string, unknown>>

describe('what a list of models tells of them', () => {
  let gateway: TestGateway
  let claude: ScriptedUpstream
  let routed: ScriptedUpstream

  before(async () => {
    claude = await scriptedUpstream()
    routed = await scriptedUpstream()
    claude.on(() => json({ data: [CLAUDE], has_more: false }))
    routed.on(() => json({ data: [ROUTED, { id: 'plain', secret: 'of the upstream' }] }))
    gateway = await startTestGateway({
      // Vendors are not reached.
      env: { KEY: 'k', HTTPS_PROXY: await closedOrigin() },
      routes: {
        chain: [{ plugin: 'auth' }],
        prices: {
          models: {
            'claude/*': { input: 5, output: 25 },
            'routed/qwen/*': { input: 2.5, cachedInput: 0.25, output: 10, request: 0.001 },
          },
        },
        namespaces: {
          claude: { provider: 'anthropic', config: { baseUrl: claude.origin, apiKey: '${env:KEY}' } },
          routed: { provider: 'openai-compatible', config: { baseUrl: `${routed.origin}/v1` } },
          openai: {
            provider: 'openai-compatible',
            models: ['gpt-5.5', 'of-tomorrow'],
            config: { preset: 'openai', apiKey: '${env:KEY}' },
          },
          acme: {
            models: {
              one: { targets: [{ model: 'routed/qwen/qwen-x' }] },
              any: { targets: [{ model: 'routed/qwen/qwen-x' }], fallbacks: ['claude/claude-opus-5-5'] },
              half: { targets: [{ model: 'routed/qwen/qwen-x' }, { model: 'routed/plain' }] },
            },
          },
        },
      },
    })
  })
  after(async () => {
    await gateway?.stop()
    await claude?.close()
    await routed?.close()
  })

  const openaiClient = async (id: string) => (await (await gateway.fetch(`/v1/models/${id}`)).json()) as Members

  const anthropicClient = () => new Anthropic({ baseURL: gateway.url, apiKey: gateway.liveKey, maxRetries: 0 })

  it("has OpenRouter's fields: context, the longest answer, modalities, parameters and prices", async () => {
    expect(await openaiClient('routed/qwen/qwen-x')).to.deep.equal({
      id: 'routed/qwen/qwen-x',
      object: 'model',
      created: 1_760_000_000,
      owned_by: 'routed',
      name: 'Qwen: X',
      context_length: 262_144,
      architecture: { input_modalities: ['text', 'image'], output_modalities: ['text'] },
      top_provider: { context_length: 262_144, max_completion_tokens: 32_768 },
      pricing: { prompt: '0.0000025', completion: '0.00001', input_cache_read: '0.00000025', request: '0.001' },
      supported_parameters: ['tools', 'temperature'],
    })
  })

  it('says nothing of what is not known', async () => {
    expect(await openaiClient('routed/plain')).to.deep.equal({
      id: 'routed/plain',
      object: 'model',
      created: 0,
      owned_by: 'routed',
    })
  })

  it('has the list prices and limits of a vendor, where its own list has none', async () => {
    // The vendor is not reached: its list of models is unknown.
    const model = await openaiClient('openai/gpt-5.5')
    expect(model).to.deep.include({ pricing: { prompt: '0.000005', completion: '0.00003', input_cache_read: '0.0000005' } })
    expect(model.top_provider).to.include({ max_completion_tokens: 128_000 })
    expect(model.context_length)
      .to.be.a('number')
      .and.equal((model.top_provider as Members).context_length)
    const unknown = await openaiClient('openai/of-tomorrow')
    for (const member of ['pricing', 'top_provider', 'context_length']) expect(unknown).to.not.have.property(member)
  })

  it('names the parameters that reach a translated upstream', async () => {
    const { supported_parameters: names } = await openaiClient('claude/claude-opus-5-5')
    expect(names).to.include.members(['tools', 'max_tokens', 'stop']).and.not.include.members(['seed'])
  })

  it('says of a curated model what holds for each of its targets', async () => {
    const one = await openaiClient('acme/one')
    expect(one).to.deep.include({ context_length: 262_144, supported_parameters: ['tools', 'temperature'] })
    expect(one).to.have.nested.property('pricing.prompt', '0.0000025')
    const any = await openaiClient('acme/any')
    expect(any).to.deep.include({
      context_length: 262_144,
      top_provider: { context_length: 262_144, max_completion_tokens: 32_768 },
      architecture: { input_modalities: ['text', 'image'], output_modalities: ['text'] },
    })
    expect(any).to.not.have.property('pricing')
    expect(await openaiClient('acme/half')).to.have.all.keys('id', 'object', 'created', 'owned_by')
  })

  it('has the same entries as single models', async () => {
    const { data } = (await (await gateway.fetch('/v1/models')).json()) as { readonly data: readonly { readonly id: string }[] }
    expect(data.map(({ id }) => id)).to.include.members(['acme/one', 'claude/claude-opus-5-5', 'routed/plain'])
    for (const model of data) expect(await openaiClient(model.id)).to.deep.equal(model)
  })

  it("is in Anthropic's shape for its SDK", async () => {
    const { max_tokens, capabilities, ...model } = await anthropicClient().models.retrieve('claude/claude-opus-5-5')
    expect(model).to.deep.equal({
      type: 'model',
      id: 'claude/claude-opus-5-5',
      display_name: 'Claude Opus 5.5',
      created_at: '2026-09-02T00:00:00Z',
      max_input_tokens: 1_000_000,
    })
    expect(max_tokens).to.equal(128_000)
    // The gateway does not serve the Batch API.
    expect(capabilities).to.deep.equal({ ...CAPABILITIES, batch: { supported: false } })
    expect(await anthropicClient().models.retrieve('routed/plain')).to.deep.equal({
      type: 'model',
      id: 'routed/plain',
      display_name: 'routed/plain',
      created_at: '1970-01-01T00:00:00Z',
      max_input_tokens: null,
      max_tokens: null,
      capabilities: null,
    })
  })

  it("is read in pages by Anthropic's SDK", async () => {
    const all = await anthropicClient().models.list()
    const ids = all.data.map(({ id }) => id)
    expect(ids).to.include.members(['acme/one', 'claude/claude-opus-5-5', 'openai/gpt-5.5'])
    expect(all).to.include({ has_more: false, first_id: ids[0], last_id: ids.at(-1) })
    const paged: string[] = []
    for await (const { id } of anthropicClient().models.list({ limit: 2 })) paged.push(id)
    expect(paged).to.deep.equal(ids)
    const last = await anthropicClient().models.list({ limit: 2, before_id: ids.at(-1)! })
    expect(last.data.map(({ id }) => id)).to.deep.equal(ids.slice(-3, -1))
  })

  it("refuses a wrong page, and a wrong key, in Anthropic's shape", async () => {
    for (const query of ['limit=0', 'limit=x', 'limit=1001', 'after_id=nobody/knows']) {
      const reply = await gateway.fetch(`/v1/models?${query}`, { headers: { 'anthropic-version': '2023-06-01' } })
      expect(reply.status, query).to.equal(400)
      expect(await reply.json()).to.have.nested.property('error.type', 'invalid_request_error')
    }
    const failed: unknown = await new Anthropic({ baseURL: gateway.url, apiKey: 'sk-live-wrong', maxRetries: 0 }).models
      .list()
      .then(undefined, (error: unknown) => error)
    expect(failed).to.be.instanceOf(Anthropic.AuthenticationError)
    expect((failed as { readonly error?: unknown }).error).to.have.nested.property('error.type', 'authentication_error')
  })

  it('takes nothing else from a hostile upstream', async () => {
    const deep = { a: { b: { c: { d: { e: true } } } } }
    routed.on(() =>
      json({
        data: [
          {
            id: 'm1',
            created: 9e15,
            name: '\u202eevil',
            supported_parameters: [{}, 'x'],
            top_provider: { max_completion_tokens: -1 },
          },
          { id: 'm2', architecture: { input_modalities: ['te xt'], output_modalities: Array(200).fill('text') } },
        ],
      }),
    )
    claude.on(() => json({ data: [{ ...CLAUDE, display_name: 7, max_tokens: 'many', capabilities: deep }], has_more: false }))
    const hostile = await startTestGateway({
      env: { KEY: 'k' },
      routes: {
        chain: [{ plugin: 'auth' }],
        namespaces: {
          claude: { provider: 'anthropic', config: { baseUrl: claude.origin, apiKey: '${env:KEY}' } },
          routed: { provider: 'openai-compatible', config: { baseUrl: `${routed.origin}/v1` } },
        },
      },
    })
    try {
      const { data } = (await (await hostile.fetch('/v1/models')).json()) as { readonly data: readonly Members[] }
      expect(data.filter(({ owned_by: owner }) => owner === 'routed')).to.deep.equal(
        ['m1', 'm2'].map((id) => ({ id: `routed/${id}`, object: 'model', created: 0, owned_by: 'routed' })),
      )
      const headers = { 'anthropic-version': '2023-06-01' }
      const shown = await (await hostile.fetch('/v1/models/claude/claude-opus-5-5', { headers })).json()
      expect(shown).to.include({ display_name: 'claude/claude-opus-5-5', max_tokens: null, capabilities: null })
    } finally {
      await hostile.stop()
    }
  })
})
