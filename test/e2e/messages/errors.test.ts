import Anthropic from '@anthropic-ai/sdk'
import { expect } from 'chai'
import { FIN, hold, json, openaiReply, sse } from '../../../core/testing/kit.ts'
import { ASKED, type Fixture, named, startFixture } from './fixture.ts'

const BEGUN = [
  named({ type: 'message_start', message: { id: 'msg_1', type: 'message', role: 'assistant', content: [], usage: {} } }),
  named({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
  named({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hel' } }),
]

describe('An error of a call to /v1/messages', () => {
  let fixture: Fixture

  before(async () => {
    fixture = await startFixture({ times: { heartbeat: 20 } })
  })
  after(() => fixture?.stop())

  async function failure(asking: Promise<unknown>): Promise<InstanceType<typeof Anthropic.APIError>> {
    const error = await asking.catch((thrown: unknown) => thrown)
    expect(error).to.be.instanceOf(Anthropic.APIError)
    return error as InstanceType<typeof Anthropic.APIError>
  }

  for (const [what, key] of [
    ['a missing key', ''],
    ['an unknown key', 'sk-live-unknown'],
  ] as const) {
    it(`is an authentication_error for ${what}, with the id of the request`, async () => {
      const reply = await fetch(`${fixture.gateway.url}/v1/messages`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...(key && { 'x-api-key': key }) },
        body: JSON.stringify({ model: 'open/gpt', ...ASKED }),
      })
      const body = (await reply.json()) as { error: { type: string } }
      expect([reply.status, body.error.type]).to.deep.equal([401, 'authentication_error'])
      expect(Object.keys(body)).to.deep.equal(['type', 'error', 'request_id'])
      expect(reply.headers.get('request-id')).to.equal(reply.headers.get('x-request-id'))
      // Claude Code repeats calls with status 401, unless this is said.
      expect(reply.headers.get('x-should-retry')).to.equal('false')
    })
  }

  it('is a class of the SDK: an unknown model, and a request without its limit', async () => {
    const { client } = fixture
    const unknown = await failure(client.messages.create({ model: 'nope/x', ...ASKED }))
    expect(unknown).to.be.instanceOf(Anthropic.NotFoundError).with.property('type', 'not_found_error')
    const body = { model: 'open/gpt', messages: ASKED.messages } as unknown as Anthropic.MessageCreateParamsNonStreaming
    const invalid = await failure(client.messages.create(body))
    expect(invalid).to.be.instanceOf(Anthropic.BadRequestError)
    expect(invalid.message).to.contain("Missing required parameter: 'max_tokens'.")
  })

  it('is 502 for a credential that the upstream refuses, which Claude Code does not repeat as it does any 400', async () => {
    const { client, open } = fixture
    open.reply(json({ error: { message: 'x', type: 'invalid_request_error', code: 'invalid_api_key' } }, { status: 401 }))
    const error = await failure(client.messages.create({ model: 'open/gpt', ...ASKED }))
    expect(error).to.include({ status: 502, type: 'api_error' })
    expect(error.headers!.get('x-should-retry')).to.equal('false')
  })

  for (const [namespace, limited, overloaded] of [
    ['claude', { type: 'error', error: { type: 'rate_limit_error', message: 'x' } }, 529],
    ['open', { error: { message: 'x', type: 'requests' } }, 503],
  ] as const) {
    it(`comes from the upstream as a rate limit or an overload: ${namespace}`, async () => {
      const { client } = fixture
      const upstream = fixture[namespace]
      upstream.reply(json(limited, { status: 429, headers: { 'retry-after': '7' } }))
      const limit = await failure(client.messages.create({ model: `${namespace}/m`, ...ASKED }))
      expect(limit).to.be.instanceOf(Anthropic.RateLimitError).with.property('type', 'rate_limit_error')
      expect(limit.headers?.get('retry-after')).to.equal('7')
      upstream.reply(json({ error: { message: 'busy' } }, { status: overloaded }))
      const busy = await failure(client.messages.create({ model: `${namespace}/m`, ...ASKED }))
      expect([busy.status, busy.type]).to.deep.equal([503, 'overloaded_error'])
    })

    it(`ends a stream that breaks off: ${namespace}`, async () => {
      const events = namespace === 'claude' ? BEGUN : openaiReply({ text: 'Hello' }).stream.slice(0, 2)
      fixture[namespace].reply(sse([...events, FIN]))
      const stream = fixture.client.messages.stream({ model: `${namespace}/m`, ...ASKED })
      const texts: string[] = []
      stream.on('text', (text) => texts.push(text))
      const error = await failure(stream.finalMessage())
      expect([texts.join(''), error.type]).to.deep.equal(['Hel', 'api_error'])
    })
  }

  it('in the middle of a stream ends it with the type of the error', async () => {
    const overloaded = named({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } })
    const paused = hold()
    fixture.claude.reply(sse([...BEGUN, paused, overloaded]))
    const stream = fixture.client.messages.stream({ model: 'claude/m', ...ASKED })
    stream.on('text', () => paused.release())
    expect(await failure(stream.finalMessage())).to.have.property('type', 'overloaded_error')
  })

  it('does not come of a silent stream, which has pings', async () => {
    const { open, gateway } = fixture
    const paused = hold()
    const events = openaiReply({ text: 'Hello' }).stream
    open.reply(sse([...events.slice(0, 2), paused, ...events.slice(2)]))
    const reply = await gateway.fetch('/v1/messages', { json: { model: 'open/m', ...ASKED, stream: true } })
    let text = ''
    for await (const bytes of reply.body!) {
      text += Buffer.from(bytes).toString()
      if (text.includes('event: ping\ndata: {"type":"ping"}\n\n')) paused.release()
    }
    expect(text).to.match(/event: message_stop\n.*\n\n$/)
  })

  for (const namespace of ['claude', 'open'] as const) {
    it(`is not sent to a client that leaves, and the call to the upstream is ended (${namespace})`, async () => {
      const paused = hold()
      const events = namespace === 'claude' ? BEGUN : openaiReply({ text: 'Hello' }).stream.slice(0, 2)
      const asked = fixture[namespace].reply(sse([...events, paused]))
      const stream = fixture.client.messages.stream({ model: `${namespace}/m`, ...ASKED })
      stream.on('text', () => stream.abort())
      const { request_id: id } = await stream.withResponse()
      const error = await stream.finalMessage().catch((thrown: unknown) => thrown)
      expect(error).to.be.instanceOf(Anthropic.APIUserAbortError)
      await (await asked).closed
      const line = await fixture.gateway.logged((one) => one.id === id)
      expect(line.outcome).to.equal('client_closed')
      expect(line.endpoint).to.equal('messages')
    })
  }
})
