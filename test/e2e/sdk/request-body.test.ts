import { expect } from 'chai'
import OpenAI from 'openai'
import { json } from '../../../core/testing/kit.ts'
import { caught } from './caught.ts'
import { ask, modelOf } from './dialect.ts'
import { DIALECTS, type Fixture, startFixture } from './fixture.ts'
import { openai } from './openai-dialect.ts'
import { refused } from './refused.ts'

const TOO_LARGE = (32 << 20) + 1

describe('The gateway, with request bodies of the SDK and curl,', () => {
  let fixture: Fixture

  before(async () => {
    fixture = await startFixture()
    for (const dialect of DIALECTS) fixture.upstream(dialect).on(() => json(dialect.whole({ text: ['Hello!'] })))
  })

  after(() => fixture?.stop())

  const received = () => fixture.upstream(openai).requests.at(-1)!

  for (const [what, body] of [
    ['broken JSON', '{bad'],
    ['JSON that ends too early', JSON.stringify(ask(openai)).slice(0, -1)],
    ['two JSON objects', '{}{}'],
    ['an array', '[]'],
    ['a text', '"x"'],
    ['null', 'null'],
    ['nothing', ''],
    ['white space', ' \n'],
  ] as const) {
    it(`refuses ${what}`, async () => {
      expect(await refused(fixture, body)).to.include({ status: 400, param: null, code: null })
    })
  }

  for (const type of [
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/json; charset=utf-16',
    'multipart/form-data',
    '',
  ]) {
    it(`refuses the content type '${type}'`, async () => {
      const { status, code, message } = await refused(fixture, ask(openai), { 'content-type': type })
      expect({ status, code }).to.deep.equal({ status: 415, code: 'unsupported_media_type' })
      expect(message).to.include(`'${type}'`).and.include('application/json')
    })
  }

  for (const type of ['application/json; charset=utf-8', 'application/json;charset=UTF-8', 'Application/JSON']) {
    it(`accepts the content type '${type}'`, async () => {
      expect((await fixture.post(ask(openai), { 'content-type': type })).status).to.equal(200)
    })
  }

  it('sends 100 Continue, for which curl waits with a large body', async () => {
    const reply = await fixture.post(ask(openai), { expect: '100-continue' })
    expect([reply.status, reply.continued]).to.deep.equal([200, true])
  })

  it('refuses a body by its content-length before it is sent', async () => {
    expect(await refused(fixture, '', { 'content-length': String(TOO_LARGE) })).to.include({
      status: 413,
      code: 'request_too_large',
    })
  })

  it('refuses a body that becomes too large while it is sent', async () => {
    const { status, message } = await refused(fixture, Buffer.alloc(TOO_LARGE, ' '), { 'transfer-encoding': 'chunked' })
    expect(status).to.equal(413)
    expect(message).to.include('33554432 bytes')
  })

  it('returns a 413 to the SDK', async () => {
    const messages = [{ role: 'user' as const, content: 'x'.repeat(TOO_LARGE) }]
    const error = await caught(fixture.gateway.openai().chat.completions.create(ask(openai, { messages })))
    expect(error).to.be.instanceOf(OpenAI.APIError).and.include({ status: 413, code: 'request_too_large' })
  })

  it('refuses a body with two models', async () => {
    const body = JSON.stringify(ask(openai)).replace('{', '{"model":"claude/claude-sonnet-4-6",')
    expect(await refused(fixture, body)).to.include({ status: 400, code: 'duplicate_parameter', param: 'model' })
  })

  for (const dialect of DIALECTS) {
    it(`is not affected by __proto__ and constructor in a body (${dialect.name})`, async () => {
      const trap = '"__proto__":{"polluted":true,"stream":true},"constructor":{"prototype":{"polluted":true}}'
      const reply = await fixture.post(JSON.stringify(ask(dialect)).replace('{', `{${trap},`))
      expect([reply.status, reply.headers['content-type']]).to.deep.equal([200, 'application/json'])
      expect({}).to.not.have.property('polluted')
      expect((await fixture.post(ask(dialect))).status).to.equal(200)
    })
  }

  it('forwards every other byte unchanged: unknown fields, spaces, escapes, large numbers', async () => {
    const rest =
      '"seed" : 9223372036854775807, "x_new":{"é":"\\u00e9","big":12345678901234567890,"tiny":1.0e-7}, "messages":[{"role":"user","content":"\\u0048i"}] }'
    expect((await fixture.post(`{ "model":${JSON.stringify(modelOf(openai))} , ${rest}`)).status).to.equal(200)
    expect(received().body.toString()).to.equal(`{ "model":"gpt-x" , ${rest}`)
  })

  it('forwards fields that neither the SDK nor the gateway knows', async () => {
    await fixture.gateway
      .openai()
      .chat.completions.create(ask(openai, { top_k: 40, chat_template_kwargs: { enable_thinking: false } }))
    expect(received().json()).to.deep.equal({
      ...ask(openai),
      model: 'gpt-x',
      top_k: 40,
      chat_template_kwargs: { enable_thinking: false },
    })
  })
})
