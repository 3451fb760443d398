import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect } from 'chai'
import OpenAI from 'openai'
import { NOT_SERVED } from '../../../core/http/app.ts'
import { createSecret } from '../../../core/keys/format.ts'
import { createKey, revokeKey } from '../../../core/keys/keys.ts'
import { hold, json, sse } from '../../../core/testing/kit.ts'
import { rawHttp } from '../../support/raw-http.ts'
import { caught } from './caught.ts'
import { ask, modelOf, splitAfter } from './dialect.ts'
import { type Fixture, startFixture } from './fixture.ts'
import { openai } from './openai-dialect.ts'

const CHAT = '/v1/chat/completions'

const MESSAGES = [{ role: 'user', content: 'Hi' }]

/** What a client sends that still has the name of a model at its vendor. */
const WITH_A_BARE_NAME: Readonly<Record<string, object>> = {
  [CHAT]: { messages: MESSAGES },
  '/v1/messages': { messages: MESSAGES, max_tokens: 10 },
  '/v1/responses': { input: 'Hi' },
  '/v1/embeddings': { input: 'Hi' },
}

describe('The gateway, called by the SDK and curl,', () => {
  let fixture: Fixture
  let url: string

  before(async () => {
    fixture = await startFixture()
    url = fixture.gateway.url
    fixture.upstream(openai).on(() => json(openai.whole({ text: ['Hello!'] })))
  })

  after(() => fixture?.stop())

  const authorized = (authorization: string) => ({ authorization, 'content-type': 'application/json' })
  const good = () => authorized(`Bearer ${fixture.gateway.liveKey}`)
  const post = (headers: Readonly<Record<string, string>>, path = CHAT) =>
    rawHttp(url + path, { method: 'POST', headers, body: JSON.stringify(ask(openai)) })

  it('answers 401 without a key', async () => {
    const reply = await post({ 'content-type': 'application/json' })
    expect(reply.status).to.equal(401)
    const error = await reply.error()
    expect(error).to.have.all.keys('message', 'type', 'param', 'code')
    expect(error).to.include({ type: 'invalid_request_error', param: null, code: null })
    expect(error.message).to.include("You didn't provide an API key")
  })

  for (const [what, authorization] of [
    ['a name and password', 'Basic bGFwdG9wOmh1bnRlcjI='],
    ['a scheme without a key', 'Bearer'],
    ['a key of another service', 'Bearer AIzaSyA-0123456789-abcdefghij'],
    ['a key with a typing error', `Bearer ${createSecret('live').slice(0, -1)}!`],
  ] as const) {
    it(`refuses ${what} as an invalid key`, async () => {
      const reply = await post(authorized(authorization))
      expect(reply.status).to.equal(401)
      expect(await reply.error()).to.include({ type: 'invalid_request_error', param: null, code: 'invalid_api_key' })
    })
  }

  it('refuses an unknown key without printing it', async () => {
    const key = createSecret('live')
    const error = await caught(fixture.gateway.openai(key).models.list())
    expect(error).to.be.instanceOf(OpenAI.AuthenticationError)
    expect(error).to.include({ status: 401, code: 'invalid_api_key' })
    expect(String(error)).to.include('Incorrect API key provided').and.not.include(key.slice(8, -4))
  })

  it('answers a revoked key like an unknown one', async () => {
    const { key, secret } = await createKey(fixture.gateway.store, { name: 'gone', kind: 'live' })
    expect((await post(authorized(`Bearer ${secret}`))).status).to.equal(200)
    await revokeKey(fixture.gateway.store, key.id)
    const bodies = [secret, createSecret('live')].map(async (refused) => {
      const reply = await post(authorized(`Bearer ${refused}`))
      return `${reply.status} ${(await reply.text()).replace(/sk-li\*\*\*\w{4}/, 'KEY')}`
    })
    const [revoked, unknown] = await Promise.all(bodies)
    expect(revoked).to.include('401').and.include('KEY').and.equal(unknown)
  })

  it('lets a stream go on to its end although its key is revoked meanwhile', async () => {
    const { key, secret } = await createKey(fixture.gateway.store, { name: 'streaming', kind: 'live' })
    const [begun, rest] = splitAfter(openai.events({ text: ['Hel', 'lo!'] }), 'Hel')
    const revoked = hold()
    fixture.upstream(openai).reply(sse([...begun, revoked, ...rest]))
    const stream = await fixture.gateway.openai(secret).chat.completions.create({ ...ask(openai), stream: true })
    let text = ''
    for await (const { choices } of stream) {
      text += choices[0]?.delta.content ?? ''
      if (text !== 'Hel') continue
      await revokeKey(fixture.gateway.store, key.id)
      expect((await post(authorized(`Bearer ${secret}`))).status).to.equal(401)
      revoked.release()
    }
    expect(text).to.equal('Hello!')
  })

  it('accepts the scheme in upper and lower case', async () => {
    expect((await post(authorized(`bearer ${fixture.gateway.liveKey}`))).status).to.equal(200)
  })

  it('adds www-authenticate and a request id to a 401', async () => {
    const { headers } = await post({ 'content-type': 'application/json' })
    expect(headers['www-authenticate']).to.equal('Bearer')
    expect(headers['x-request-id']).to.match(/^req_[0-9a-f]{32}$/)
    expect(headers['content-type']).to.equal('application/json')
  })

  it('refuses a call without a valid key before its body', async () => {
    const headers = { 'content-type': 'image/png', 'content-length': '99999999999', expect: '100-continue' }
    const reply = await rawHttp(url + CHAT, { method: 'POST', headers, whole: false })
    expect([reply.status, reply.continued]).to.deep.equal([401, false])
    reply.leave()
  })

  it('does not parse the body of a call without a valid key', async () => {
    const reply = await rawHttp(url + CHAT, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{bad' })
    expect(reply.status).to.equal(401)
  })

  it('lists the allowed methods of a path', async () => {
    const reply = await rawHttp(url + CHAT, { headers: good() })
    expect([reply.status, reply.headers.allow]).to.deep.equal([405, 'POST'])
    const error = await reply.error()
    expect(error).to.include({ type: 'invalid_request_error', param: null, code: null })
    expect(error).to.have.property('message').which.includes('Not allowed to GET on /v1/chat/completions')
  })

  for (const path of ['/v1/nope', '/v1/chat/completions//', '/v1//models', '/nope']) {
    it(`answers 404 at ${path}`, async () => {
      const reply = await post(good(), path)
      expect([reply.status, reply.headers['content-type']]).to.deep.equal([404, 'application/json'])
      expect(await reply.error()).to.deep.equal({
        message: `Invalid URL (POST ${path})`,
        type: 'invalid_request_error',
        param: null,
        code: null,
      })
    })
  }

  it('takes a slash at the end of a path', async () => {
    fixture.upstream(openai).reply(json(openai.whole({ text: ['Hi'] })))
    const reply = await rawHttp(`${url}${CHAT}/`, { method: 'POST', headers: good(), body: JSON.stringify(ask(openai)) })
    expect(reply.status).to.equal(200)
    const refused = await rawHttp(`${url}${CHAT}/`, { headers: good() })
    expect([refused.status, refused.headers.allow]).to.deep.equal([405, 'POST'])
    for (const path of ['/v1/models/', '/v1/models/open%2Fgpt-4o/', '/v1/models/open/gpt-4o/'])
      expect((await rawHttp(url + path, { headers: good() })).status, path).to.equal(200)
  })

  for (const path of ['/v1', '/v1/', '/chat/completions', '/chat/completions/']) {
    it(`says at ${path} what a base URL is`, async () => {
      const reply = await post(good(), path)
      expect(reply.status).to.equal(404)
      expect((await reply.error()).message).to.equal(
        `Invalid URL (POST ${path}). The base URL of an SDK ends in /v1; calls go to paths below it, such as /v1/chat/completions.`,
      )
    })
  }

  for (const path of NOT_SERVED.filter((name) => name !== '/v1/responses').flatMap((name) => [name, `${name}/id_1`]))
    it(`says that ${path} is not served`, async () => {
      const reply = await post(good(), path)
      expect(reply.status).to.equal(404)
      expect((await reply.error()).message).to.equal(
        `Invalid URL (POST ${path}). This gateway does not serve that endpoint: docs/endpoints.md lists those that it serves.`,
      )
    })

  it('says that the base URL has /v1 twice', async () => {
    expect((await (await post(good(), '/v1/v1/messages')).error()).message).to.include('must end without /v1')
  })

  it('answers 426 to a WebSocket at an endpoint without them', async () => {
    const headers = {
      authorization: good().authorization,
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
    }
    const reply = await rawHttp(url + CHAT, { method: 'GET', headers })
    expect(reply.status).to.equal(426)
    expect(reply.headers.upgrade).to.equal('HTTP/1.1')
    expect((await reply.error()).code).to.equal('websocket_unsupported')
  })

  it('accepts the same key in Authorization and x-api-key', async () => {
    const headers = { ...good(), 'x-api-key': fixture.gateway.liveKey }
    for (const path of [CHAT, '/v1/messages']) {
      const body = JSON.stringify({ ...ask(openai), max_tokens: 10 })
      expect((await rawHttp(url + path, { method: 'POST', headers, body })).status).to.equal(200)
    }
  })

  it('says that Authorization and x-api-key have different keys, also if both are valid', async () => {
    for (const other of [await fixture.gateway.key(), 'sk-ant-another', createSecret('live')]) {
      const reply = await post({ ...good(), 'x-api-key': other })
      expect(reply.status).to.equal(401)
      expect((await reply.error()).code).to.equal('two_api_keys')
    }
  })

  for (const [path, body] of Object.entries(WITH_A_BARE_NAME)) {
    it(`says at ${path} what names of models look like, if one has no namespace`, async () => {
      for (const key of [fixture.gateway.liveKey, fixture.gateway.testKey]) {
        const reply = await fixture.gateway.fetch(path, { json: { model: 'gpt-4o', ...body }, key })
        expect(reply.status).to.equal(404)
        const { error } = (await reply.json()) as { error: { message: string } }
        expect(error.message).to.equal(
          'The model `gpt-4o` does not exist or you do not have access to it. Names look like `<namespace>/<model>`; GET /v1/models lists those of your key.',
        )
      }
    })
  }

  for (const path of ['/v1/models/%zz', '/v1/models/open%2Fx%', '/v1/%zz', '/%zz/v1/models']) {
    it(`answers the invalid escape in ${path}`, async () => {
      const reply = await rawHttp(url + path, { headers: good() })
      expect(reply.status).to.equal(404)
      expect(await reply.error()).to.include({ type: 'invalid_request_error' })
    })
  }

  for (const [method, path, status, allow] of [
    ['HEAD', '/v1/models', 200, undefined],
    ['HEAD', CHAT, 405, 'POST'],
    ['OPTIONS', CHAT, 405, 'POST'],
    ['OPTIONS', '/v1/models', 405, 'HEAD, GET'],
    ['OPTIONS', '/v1/nope', 404, undefined],
    ['DELETE', '/v1/models', 405, 'HEAD, GET'],
    ['TRACE', CHAT, 405, 'POST'],
  ] as const) {
    it(`answers ${method} ${path} with ${status}`, async () => {
      const reply = await rawHttp(url + path, { method, headers: good() })
      expect([reply.status, reply.headers.allow]).to.deep.equal([status, allow])
      expect(reply.headers['x-request-id']).to.match(/^req_/)
      expect((await reply.text()) === '').to.equal(method === 'HEAD')
    })
  }

  it('answers OPTIONS *', async () => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    socket.write('OPTIONS * HTTP/1.1\r\nhost: gateway\r\nconnection: close\r\n\r\n')
    expect(await text(socket)).to.match(/^HTTP\/1\.1 404 .*"Invalid URL \(OPTIONS \*\)"/s)
  })

  it('serves routes with a query string', async () => {
    expect((await post(good(), `${CHAT}?api-version=2024-10-21&x=/v1/models`)).status).to.equal(200)
    expect((await rawHttp(`${url}/v1/models?limit=20`, { headers: good() })).status).to.equal(200)
  })

  for (const path of [`/v1/models/open%2F${openai.model}`, `/v1/models/open/${openai.model}`]) {
    it(`finds a model at ${path}`, async () => {
      const reply = await rawHttp(url + path, { headers: good() })
      expect(reply.status).to.equal(200)
      expect(await reply.json()).to.include({ id: modelOf(openai) })
    })
  }

  it('finds a model with slashes, colons and an at sign in its name', async () => {
    const id = 'open/a/b:c@d'
    expect((await fixture.gateway.openai().models.retrieve(id)).id).to.equal(id)
  })
})
