// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${…} is the syntax of routes.yaml
import { expect } from 'chai'
import { APIError } from 'openai'
import { json, type ScriptedUpstream, scriptedUpstream } from '../../../core/testing/kit.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'

const NUMBERS = [0.25, -0.5, 1]
const BASE64 = Buffer.from(new Float32Array(NUMBERS).buffer).toString('base64')

const reply = (embedding: unknown) => ({
  object: 'list',
  data: [{ object: 'embedding', index: 0, embedding }],
  model: 'text-embedding-3-small',
  usage: { prompt_tokens: 5, total_tokens: 5 },
})

/** A provider with a wire of its own, which answers in numbers. */
const STRANGER = `
import { defineProvider, Type } from 'unified-model-gateway/plugin'
export default defineProvider({
  apiVersion: 1, name: 'stranger', schema: Type.Object({ origin: Type.String() }),
  create: ({ origin }) => ({
    parameters: {},
    request() { throw new Error('no chat here') },
    endpoints: {
      embeddings: {
        parameters: { dimensions: { support: 'mapped', to: 'size' }, user: { support: 'dropped' } },
        request: (call, { model }) => ({ origin, path: '/embed', headers: call.headers, body: JSON.stringify({ model, texts: call.body.input, size: call.body.dimensions }) }),
        reply: (body) => ({ data: body.vectors.map((embedding) => ({ embedding })), usage: { prompt_tokens: body.count } }),
      },
    },
  }),
})`

describe('POST /v1/embeddings', () => {
  let gateway: TestGateway
  let upstream: ScriptedUpstream

  before(async () => {
    upstream = await scriptedUpstream()
    gateway = await startTestGateway({
      files: { 'stranger.ts': STRANGER },
      env: { KEY: 'up' },
      routes: {
        chain: [{ plugin: 'auth' }],
        namespaces: {
          open: {
            provider: 'openai-compatible',
            breaker: false,
            config: { baseUrl: `${upstream.origin}/v1`, apiKey: '${env:KEY}' },
          },
          own: { provider: './stranger.ts', config: { origin: upstream.origin } },
          claude: { provider: 'anthropic', config: { baseUrl: upstream.origin, apiKey: '${env:KEY}' } },
          acme: { models: { embed: { targets: [{ model: 'claude/claude-x' }], fallbacks: ['open/text-embedding-3-small'] } } },
        },
      },
    })
  })

  after(async () => {
    await gateway?.stop()
    await upstream?.close()
  })

  it('returns base64 to the SDK, which decodes it', async () => {
    const asked = upstream.reply(json(reply(BASE64)))
    const { data, usage } = await gateway.openai().embeddings.create({ model: 'open/text-embedding-3-small', input: 'Hello' })
    expect([data[0]!.embedding, usage]).to.deep.equal([NUMBERS, { prompt_tokens: 5, total_tokens: 5 }])
    const request = await asked
    expect([request.path, request.headers.authorization]).to.deep.equal(['/v1/embeddings', 'Bearer up'])
    expect(request.json()).to.deep.equal({ model: 'text-embedding-3-small', input: 'Hello', encoding_format: 'base64' })
  })

  for (const input of ['Hello', 'x'.repeat(2 << 20)]) {
    const size = input.length > 100 ? ', of a large request' : ''

    it(`returns the base64 that the client asked for if the upstream answers with numbers${size}`, async () => {
      for (const numbers of [NUMBERS, Array.from({ length: 300_000 }, (_, index) => index / 4)]) {
        upstream.reply(json(reply(numbers)))
        const answer = await gateway.fetch('/v1/embeddings', { json: { model: 'open/e', input, encoding_format: 'base64' } })
        const { data, usage } = (await answer.json()) as ReturnType<typeof reply>
        expect(data[0]!.embedding).to.equal(Buffer.from(new Float32Array(numbers).buffer).toString('base64'))
        expect(usage).to.deep.equal({ prompt_tokens: 5, total_tokens: 5 })
      }
    })
  }

  for (const [what, embedding, encoding_format] of [
    ['base64 instead of numbers', BASE64, 'float'],
    ['an object instead of base64', { 0: 1 }, 'base64'],
    ['null instead of base64', null, 'base64'],
    ['words among the numbers', [1, 'two'], 'base64'],
    ['no vector', undefined, 'float'],
  ] as const) {
    it(`refuses an upstream that answers with ${what}`, async () => {
      upstream.reply(json(reply(embedding)))
      const answer = await gateway.fetch('/v1/embeddings', { json: { model: 'open/e', input: 'Hello', encoding_format } })
      expect(answer.status).to.equal(502)
      expect(((await answer.json()) as { error: { code: string } }).error.code).to.equal('upstream_invalid_response')
    })
  }

  it('returns the requested encoding even if the provider supports only one', async () => {
    const vectors = { vectors: [NUMBERS, [1, 2, 3]], count: 7 }
    const ask = { model: 'own/e', input: ['a', 'b'], dimensions: 3 }
    const asked = upstream.reply(json(vectors))
    const decoded = await gateway.openai().embeddings.create(ask)
    expect(decoded.data.map(({ embedding }) => embedding)).to.deep.equal(vectors.vectors)
    expect((await asked).json()).to.deep.equal({ model: 'e', texts: ['a', 'b'], size: 3 })
    upstream.reply(json(vectors))
    const plain = await gateway.fetch('/v1/embeddings', { method: 'POST', json: { ...ask, user: 'ada' } })
    expect(plain.headers.get('x-umg-params-dropped')).to.equal('user')
    expect(await plain.json()).to.deep.equal({
      object: 'list',
      data: vectors.vectors.map((embedding, index) => ({ object: 'embedding', index, embedding })),
      model: 'own/e',
      usage: { prompt_tokens: 7, total_tokens: 7 },
    })
  })

  it('counts the tokens of the prompt only', async () => {
    upstream.reply(json(reply(NUMBERS)))
    await gateway.openai().embeddings.create({ model: 'open/text-embedding-3-small', input: 'Hello', encoding_format: 'float' })
    const line = await gateway.logged(({ endpoint }) => endpoint === 'embeddings')
    expect(line).to.deep.include({ outcome: 'ok', tokens: { input: 5, output: 0 } })
    expect(
      await gateway.metric('gen_ai_server_request_duration_seconds_count', { gen_ai_operation_name: 'embeddings' }),
    ).to.be.above(0)
  })

  it('skips targets without embeddings, and refuses the call if there is no other', async () => {
    upstream.reply(json(reply(BASE64)))
    expect((await gateway.openai().embeddings.create({ model: 'acme/embed', input: 'Hello' })).data).to.have.length(1)
    const failure = await gateway
      .openai()
      .embeddings.create({ model: 'claude/claude-x', input: 'Hello' })
      .catch((error) => error)
    expect(failure).to.be.instanceOf(APIError)
    expect(failure).to.include({ status: 400, code: 'unsupported_endpoint', param: 'model' })
  })

  for (const [name, body, code, param] of [
    ['no input', {}, 'missing_required_parameter', 'input'],
    ['an empty input', { input: [] }, 'invalid_value', 'input'],
    ['an empty list of tokens', { input: [[]] }, 'invalid_value', 'input[0]'],
    ['texts where tokens stand', { input: [['a']] }, 'invalid_type', 'input[0][0]'],
    ['no dimensions', { input: 'a', dimensions: 0 }, 'invalid_value', 'dimensions'],
    ['a stream', { input: 'a', stream: true }, 'invalid_value', 'stream'],
    ['another encoding', { input: 'a', encoding_format: 'hex' }, 'invalid_value', 'encoding_format'],
  ] as const) {
    it(`refuses ${name} in OpenAI's words`, async () => {
      const refused = await gateway.fetch('/v1/embeddings', { method: 'POST', json: { model: 'open/e', ...body } })
      const { error } = (await refused.json()) as { error: object }
      expect(refused.status).to.equal(400)
      expect(error).to.include({ code, param })
    })
  }

  it('returns the error of an upstream that fails or returns no embeddings', async () => {
    upstream.reply(json({ error: { message: 'no', type: 'server_error' } }, { status: 500 }))
    upstream.reply(json({ object: 'list', data: [] }))
    const codes: string[] = []
    for (let i = 0; i < 2; i++) {
      const failed = await gateway.fetch('/v1/embeddings', { method: 'POST', json: { model: 'open/e', input: 'a' } })
      codes.push(((await failed.json()) as { error: { code: string } }).error.code)
    }
    expect(codes).to.deep.equal(['upstream_error', 'upstream_invalid_response'])
  })
})
