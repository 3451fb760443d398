import Anthropic from '@anthropic-ai/sdk'
import { expect } from 'chai'
import { json, openaiReply } from '../../../core/testing/kit.ts'
import { ASKED, type Fixture, MESSAGE, startFixture } from './fixture.ts'

const VERSION = '2026-10-21'
const messages = [{ role: 'user', content: 'Hi' }]
const document = { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'Hi' } }
const cited = { type: 'text', text: 'Hi', citations: [{ type: 'char_location' }] }

describe('A version of the Messages API', () => {
  let fixture: Fixture
  before(async () => {
    fixture = await startFixture()
  })
  after(() => fixture?.stop())

  const ask = (model: string, version: string | undefined, body: object = {}) =>
    fixture.gateway.fetch('/v1/messages', {
      json: { model, max_tokens: 9, messages, ...body },
      headers: version === undefined ? {} : { 'anthropic-version': version },
    })

  for (const version of ['2023-06-01', VERSION, '2027-03-01']) {
    it(`${version} reaches Anthropic, with what it no longer takes`, async () => {
      const asked = fixture.claude.reply(json(MESSAGE))
      const reply = await ask('claude/claude-x', version, { temperature: 1 })
      expect(reply.status).to.equal(200)
      const { headers, body } = await asked
      expect(headers).to.include({ 'anthropic-version': version, 'x-api-key': 'sk-ant-upstream' })
      expect(JSON.parse(body.toString())).to.include({ temperature: 1 })
    })
  }

  it('is 2023-06-01 for clients that name none', async () => {
    const asked = fixture.claude.reply(json(MESSAGE))
    await ask('claude/claude-x', undefined)
    expect((await asked).headers).to.include({ 'anthropic-version': '2023-06-01' })
  })

  it('is 2023-06-01 for chat completions, which have sampling parameters', async () => {
    const asked = fixture.claude.reply(json(MESSAGE))
    await fixture.gateway.fetch('/v1/chat/completions', {
      json: { model: 'claude/claude-3-5-haiku', messages, temperature: 0.5 },
    })
    expect((await asked).headers).to.include({ 'anthropic-version': '2023-06-01' })
  })

  it("has betas, which are named as left out at other endpoints than Anthropic's", async () => {
    fixture.claude.reply(json(MESSAGE))
    const asked = { model: 'claude/claude-3-5-haiku', messages }
    const reply = await fixture.gateway.fetch('/v1/chat/completions', {
      json: asked,
      headers: { 'anthropic-beta': 'context-1m-2025-08-07' },
    })
    expect([reply.status, reply.headers.get('x-umg-params-dropped')]).to.deep.equal([200, 'anthropic-beta'])
  })

  for (const [what, body, param] of [
    ['a temperature', { temperature: 1 }, 'temperature'],
    ['a top_p', { top_p: 0.9 }, 'top_p'],
    ['a top_k', { top_k: 5 }, 'top_k'],
    [
      'a document of the assistant',
      { messages: [...messages, { role: 'assistant', content: [document] }] },
      'messages[1].content[0]',
    ],
    ['citations of the user', { messages: [{ role: 'user', content: [cited] }] }, 'messages[0].content[0].citations'],
    [
      'citations in a search result of the user',
      { messages: [{ role: 'user', content: [{ type: 'search_result', source: 's', title: 't', content: [cited] }] }] },
      'messages[0].content[0].content[0].citations',
    ],
  ] as const) {
    it(`${VERSION} is refused with ${what} by other upstreams, as by Anthropic`, async () => {
      const before = fixture.open.requests.length
      const reply = await ask('open/m', VERSION, body)
      const { error } = (await reply.json()) as { error: { type: string; message: string } }
      expect([reply.status, error.type]).to.deep.equal([400, 'invalid_request_error'])
      expect(error.message).to.include(`'${param}'`).and.to.include(VERSION)
      expect(fixture.open.requests.length).to.equal(before)
    })
  }

  for (const large of [false, true]) {
    it(`${VERSION} is held to in counts of ${large ? 'large' : 'small'} prompts for other upstreams too, a later one is counted`, async () => {
      const first = { role: 'user', content: large ? 'Hi '.repeat(200_000) : 'Hi' }
      const count = async (version: string, last: object) => {
        const json = { model: 'open/m', messages: [first, last] }
        const reply = await fixture.gateway.fetch('/v1/messages/count_tokens', {
          json,
          headers: { 'anthropic-version': version },
        })
        const { error } = (await reply.json()) as { error?: { message: string } }
        return [reply.status, /'messages\[1\]\.content\[0\]'/.test(error?.message ?? '')]
      }
      const refused = { role: 'assistant', content: [document] }
      expect(await count(VERSION, refused)).to.deep.equal([400, true])
      expect(await count('2023-06-01', refused)).to.deep.equal([200, false])
      expect(await count('2027-03-01', { role: 'assistant', content: 'Hi' })).to.deep.equal([200, false])
    })
  }

  it('2023-06-01 is served with a temperature by other upstreams', async () => {
    const asked = fixture.open.reply(json(openaiReply({ text: 'Hi' }).whole))
    expect((await ask('open/m', '2023-06-01', { temperature: 1 })).status).to.equal(200)
    expect((await asked).json()).to.include({ temperature: 1 })
  })

  it('that is not known is refused by other upstreams, by its name', async () => {
    const reply = await ask('open/m', '2027-03-01')
    const { error } = (await reply.json()) as { error: { message: string } }
    expect(reply.status).to.equal(400)
    expect(error.message).to.include("'anthropic-version'").and.to.include(VERSION)
  })

  it('of the official SDK is served by each upstream', async () => {
    const client = new Anthropic({ baseURL: fixture.gateway.url, apiKey: fixture.gateway.liveKey, maxRetries: 0 })
    const asked = fixture.claude.reply(json(MESSAGE))
    await client.messages.create({ model: 'claude/claude-x', ...ASKED })
    expect((await asked).headers['anthropic-version']).to.equal(VERSION)
    fixture.open.reply(json(openaiReply({ text: 'Hi' }).whole))
    const { content } = await client.messages.create({ model: 'open/m', ...ASKED })
    expect(content).to.deep.equal([{ type: 'text', text: 'Hi' }])
  })
})
