import { expect } from 'chai'
import { html, json, reply, type ScriptedUpstream, scriptedUpstream } from '../../../core/testing/kit.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'

const failure = (status: number, message: string, more: object = {}) =>
  json({ error: { message, type: 'invalid_request_error', param: null, code: null, ...more } }, { status })

/** How vendors say that they have no such endpoint, or not for this model. */
const ABSENT = {
  'a web page': html({ status: 404 }),
  'a bare text': reply(['404 page not found'], { status: 404, headers: { 'content-type': 'text/plain' } }),
  'the words of vLLM': json({ detail: 'Not Found' }, { status: 404 }),
  'the words of DeepSeek': json({ error_msg: 'Not Found. Please check the configuration.' }, { status: 404 }),
  'the words of Groq': failure(404, 'Unknown request URL: POST /openai/v1/embeddings. Please check the URL for typos.', {
    code: 'unknown_url',
  }),
  'another method': reply([''], { status: 405 }),
  'a model of another endpoint': failure(404, 'This model is only supported in v1/chat/completions and not in v1/responses.', {
    param: 'model',
  }),
  'a model that does not embed': failure(403, 'You are not allowed to generate embeddings from this model'),
}

describe('An upstream without the requested endpoint', () => {
  let gateway: TestGateway
  let upstream: ScriptedUpstream

  before(async () => {
    upstream = await scriptedUpstream()
    const at = (path: string, more: object = {}) => ({
      provider: 'openai-compatible',
      config: { baseUrl: `${upstream.origin}${path}`, responses: true, ...more },
    })
    gateway = await startTestGateway({
      routes: {
        chain: [{ plugin: 'auth' }],
        namespaces: {
          open: at('/v1'),
          mistral: at('/mistral', { preset: 'mistral' }),
          second: at('/v2'),
          acme: { models: { embed: { targets: [{ model: 'open/chat-only' }], fallbacks: ['second/e'] } } },
        },
      },
    })
  })

  after(async () => {
    await gateway?.stop()
    await upstream?.close()
  })

  const errorOf = async (path: string, model: string) => {
    const failed = await gateway.fetch(path, { method: 'POST', json: { model, input: 'a' } })
    const { error } = (await failed.json()) as { error: { message: string; type: string; code: string; param: string } }
    return { status: failed.status, ...error }
  }

  for (const path of ['/v1/embeddings', '/v1/responses']) {
    for (const [name, script] of Object.entries(ABSENT)) {
      it(`is reported to the client, at ${path}: ${name}`, async () => {
        upstream.reply(script)
        const error = await errorOf(path, 'open/chat-only')
        expect(error).to.include({ status: 400, type: 'invalid_request_error', code: 'unsupported_endpoint', param: 'model' })
        expect(error.message).to.contain('`open/chat-only` is not served at this endpoint')
      })
    }
  }

  it("is recognised by a vendor's own error", async () => {
    upstream.reply(json({ message: 'no Route matched with those values' }, { status: 404 }))
    expect(await errorOf('/v1/responses', 'mistral/mistral-large')).to.include({ code: 'unsupported_endpoint' })
    upstream.reply(json({ object: 'error', message: 'Invalid model: mistral-nine' }, { status: 404 }))
    expect(await errorOf('/v1/embeddings', 'mistral/mistral-nine')).to.include({ code: 'model_not_found' })
  })

  it('is distinguished from an unknown model and an unknown object', async () => {
    upstream.reply(failure(404, 'The model `e` does not exist or you do not have access to it.', { code: 'model_not_found' }))
    expect(await errorOf('/v1/embeddings', 'open/e')).to.include({ status: 404, code: 'model_not_found' })
    upstream.reply(failure(404, "Item with id 'rs_1' not found. Try again with `store` set to true.", { param: 'input' }))
    const error = await errorOf('/v1/responses', 'open/e')
    expect(error).to.include({ status: 400, param: 'input' })
    expect(error.message).to.contain('not found. Try again with `store` set to true.')
  })

  it('is skipped, and its breaker stays closed', async () => {
    const embedding = Buffer.from(new Float32Array([0.25]).buffer).toString('base64')
    for (let i = 0; i < 3; i++) {
      const asked = upstream.requests.length
      upstream.reply(ABSENT['a model that does not embed'])
      upstream.reply(json({ object: 'list', data: [{ object: 'embedding', index: 0, embedding }], usage: { prompt_tokens: 1 } }))
      const { data } = await gateway.openai().embeddings.create({ model: 'acme/embed', input: 'a' })
      expect(data[0]!.embedding).to.deep.equal([0.25])
      // A client that asks for the wrong thing must not put a target to rest for others.
      expect(upstream.requests.slice(asked).map(({ path }) => path)).to.deep.equal(['/v1/embeddings', '/v2/embeddings'])
    }
  })
})
