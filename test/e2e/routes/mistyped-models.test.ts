import { expect } from 'chai'
import { json, type ScriptedUpstream, scriptedUpstream } from '../../../core/testing/kit.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'

const ROUTES = `version: 1
chain: [{ plugin: auth }]
namespaces:
  sandbox: { provider: sandbox, models: [hello, echo] }
  open: { provider: sandbox }
  hidden: { provider: sandbox, models: [secret-model] }
  openai: { provider: openai-compatible, config: { preset: openai, apiKey: "\${env:OPENAI_API_KEY}" } }
  local: { provider: openai-compatible, config: { baseUrl: "\${env:LOCAL}/v1" } }
  acme:
    models:
      smart: { targets: [{ model: sandbox/hello }] }
      fast: { targets: [{ model: sandbox/echo }] }
aliases: { gpt-4o: acme/smart }
`

/** Endpoints, and a body of each without its model. */
const BODIES: Readonly<Record<string, object>> = {
  '/v1/chat/completions': { messages: [{ role: 'user', content: 'Hi' }] },
  '/v1/messages': { messages: [{ role: 'user', content: 'Hi' }], max_tokens: 10 },
  '/v1/responses': { input: 'Hi' },
  '/v1/embeddings': { input: 'Hi' },
}

const LISTED = json({ object: 'list', data: [{ id: 'qwen3-32b', object: 'model', created: 1, owned_by: 'local' }] })
const UNKNOWN = json({ error: { message: 'unknown model', code: 'model_not_found' } }, { status: 404 })

describe('a mistyped model', () => {
  let upstream: ScriptedUpstream
  let gateway: TestGateway
  let key: string
  /** Of a caller who may call what routes.yaml does not name, too. */
  let wide: string

  before(async () => {
    upstream = await scriptedUpstream()
    upstream.on(({ method }) => (method === 'GET' ? LISTED : UNKNOWN))
    gateway = await startTestGateway({ routes: ROUTES, env: { OPENAI_API_KEY: 'a-key', LOCAL: upstream.origin } })
    key = await gateway.key({ models: ['sandbox/*', 'acme/*', 'open/*'] })
    wide = await gateway.key({ models: ['*'] })
  })

  after(async () => {
    await gateway?.stop()
    await upstream?.close()
  })

  /** The message of the 404. */
  async function messageFor(model: string, path = '/v1/chat/completions', by = key): Promise<string> {
    const reply = await gateway.fetch(path, { json: { model, ...BODIES[path] }, key: by })
    expect(reply.status).to.equal(404)
    return ((await reply.json()) as { error: { message: string } }).error.message
  }

  for (const [model, meant] of [
    ['acme/smrt', 'acme/smart'],
    ['acmee/smart', 'acme/smart'],
    ['acme/SMART', 'acme/smart'],
    ['gpt-4', 'gpt-4o'],
    ['smart', 'acme/smart'],
    ['opne/any/model-1', 'open/any/model-1'],
    ['Open/some-model', 'open/some-model'],
  ])
    it(`${model} is answered with the nearest name of the caller's own list, ${meant}`, async () => {
      expect(await messageFor(model!)).to.include(`Did you mean \`${meant}\`?`)
    })

  it('that a list price knows is answered with the namespace of its vendor, though routes.yaml does not name it', async () => {
    expect(await messageFor('gpt-5.5', '/v1/chat/completions', wide)).to.include('Did you mean `openai/gpt-5.5`?')
  })

  it('that an upstream lists is answered with its namespace, though routes.yaml does not name it', async () => {
    const reply = await gateway.fetch('/v1/models/local%2Fqwen3-32b', { key: wide })
    expect(reply.status).to.equal(200)
    expect(await messageFor('qwen3-32b', '/v1/chat/completions', wide)).to.include('Did you mean `local/qwen3-32b`?')
  })

  for (const [model, meant] of [
    ['local/qwen3-23b', 'local/qwen3-32b'],
    ['qwen332b', 'local/qwen3-32b'],
    ['gpt-55', 'openai/gpt-5.5'],
  ])
    it(`${model} is answered with the nearest one that its upstream has, ${meant}, though routes.yaml names none`, async () => {
      await gateway.fetch('/v1/models', { key: wide })
      expect(await messageFor(model!, '/v1/chat/completions', wide)).to.include(`Did you mean \`${meant}\`?`)
    })

  it('that an upstream does not know is not answered with itself', async () => {
    expect(await messageFor('local/qwen3-32b', '/v1/chat/completions', wide)).to.not.include('Did you mean')
  })

  it('that only namespaces have which its key may not call is answered without them', async () => {
    await gateway.fetch('/v1/models/local%2Fqwen3-32b', { key: wide })
    for (const model of ['gpt-5.5', 'qwen3-32b']) expect(await messageFor(model)).to.not.match(/openai|local/)
  })

  for (const path of Object.keys(BODIES))
    it(`is answered so at ${path}`, async () => {
      expect(await messageFor('acme/smrt', path)).to.include('Did you mean `acme/smart`?')
    })

  it('is answered without a name that its key may not call', async () => {
    expect(await messageFor('hidden/secret-modle'))
      .to.not.include('secret-model`?')
      .and.not.include('Did you mean `hidden')
  })

  it('that is like no other is answered without a suggestion', async () => {
    expect(await messageFor('elsewhere/something-quite-different')).to.not.include('Did you mean')
  })
})
