import { expect } from 'chai'
import { type ScriptedUpstream, scriptedUpstream } from 'unified-model-gateway/plugin/testing'
import { json } from '../../../../core/testing/kit.ts'
import { openai } from '../../../e2e/sdk/openai-dialect.ts'
import { startTestGateway, type TestGateway } from '../../../support/gateway.ts'

/** Ways in which a request could be answered by another model than the one that the key allows. */
const CHOICES: Readonly<Record<string, unknown>> = {
  models: ['secret-model'],
  Models: ['secret-model'],
  modelſ: ['secret-model'],
  route: 'fallback',
  preset: 'mine',
  fallbacks: [{ model: 'secret-model' }],
  providerOptions: { gateway: { models: ['secret-model'] } },
  api_base: 'https://elsewhere.example',
  base_url: 'https://elsewhere.example',
  api_key: 'sk-mine',
  model_list: [{ model_name: 'm' }],
  user_config: { model_list: [] },
  litellm_params: { api_base: 'https://elsewhere.example' },
  extra_body: { models: ['secret-model'] },
  metadata: { fallbacks: ['secret-model'] },
}

describe('openai-compatible: a request that chooses a model beside `model`', () => {
  let upstream: ScriptedUpstream
  let gateway: TestGateway

  before(async () => {
    upstream = await scriptedUpstream()
    upstream.on(() => json(openai.whole({ text: ['Hi'] })))
    const baseUrl = `${upstream.origin}/v1`
    const namespace = (config: object) => ({ provider: 'openai-compatible', config: { baseUrl, ...config } })
    gateway = await startTestGateway({
      routes: {
        chain: [{ plugin: 'auth' }],
        namespaces: {
          local: namespace({}),
          native: namespace({ responses: true }),
          router: namespace({ preset: 'openrouter', allow: ['models', 'route'] }),
          strict: namespace({ refuse: ['plugins', 'transforms.deep'] }),
        },
      },
    })
  })
  after(async () => {
    await gateway?.stop()
    await upstream?.close()
  })

  async function ask(model: string, members: object, path = '/v1/chat/completions') {
    const before = upstream.requests.length
    const messages = [{ role: 'user', content: 'Hi' }]
    const body = path.endsWith('completions') ? { model, messages, ...members } : { model, input: 'Hi', ...members }
    const reply = await gateway.fetch(path, { json: body })
    const { error } = (await reply.json()) as {
      readonly error?: { readonly code: string; readonly param: string; readonly message: string }
    }
    return {
      status: reply.status,
      error,
      sent: upstream.requests.slice(before).map((request) => request.json() as Record<string, unknown>),
    }
  }

  for (const [name, value] of Object.entries(CHOICES)) {
    it(`is refused, and not sent: ${name}`, async () => {
      const { status, error, sent } = await ask('local/m', { [name]: value })
      expect({ status, code: error?.code, sent }).to.deep.equal({ status: 400, code: 'unsupported_parameter', sent: [] })
      expect(error!.message).to.contain('in `model`')
    })
  }

  for (const path of ['/v1/responses', '/v1/embeddings']) {
    it(`is refused at ${path} too`, async () => {
      expect((await ask('native/m', { models: ['secret-model'] }, path)).status).to.equal(400)
    })
  }

  it('is passed on if it chooses nothing', async () => {
    const members = { models: null, metadata: { team: 'blue' }, modelsize: 7 }
    const { status, sent } = await ask('local/m', members)
    expect(status).to.equal(200)
    expect(sent[0]).to.deep.include(members)
  })

  it('is passed on where the operator allows it, and only that', async () => {
    const { status, sent } = await ask('router/m', { models: ['other'], route: 'fallback' })
    expect(status).to.equal(200)
    expect(sent[0]).to.deep.include({ models: ['other'], route: 'fallback' })
    expect((await ask('router/m', { preset: 'mine' })).error).to.include({ param: 'preset' })
  })

  it('is refused where the operator says so', async () => {
    expect((await ask('strict/m', { plugins: [{ id: 'web' }] })).error).to.include({ param: 'plugins' })
    expect((await ask('strict/m', { transforms: { deep: true } })).error).to.include({ param: 'transforms.deep' })
    expect((await ask('strict/m', { transforms: { shallow: true } })).status).to.equal(200)
  })
})
