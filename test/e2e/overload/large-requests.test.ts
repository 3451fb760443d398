import { expect } from 'chai'
import { json, type ScriptedUpstream, scriptedUpstream } from '../../../core/testing/kit.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { watchParsing } from '../../support/watch-parsing.ts'
import { anthropic } from '../sdk/anthropic-dialect.ts'
import { openai } from '../sdk/openai-dialect.ts'

const WORDS = 'Hello, world! '.repeat(500)
const message = (content: unknown, role = 'user') => ({ role, content })
const LONG = Array.from({ length: 300 }, () => message(WORDS))
const MANY = Array.from({ length: 20_000 }, () => message('Hi'))

/** Characters: replies and small requests are parsed on the event loop. */
const SMALL = 64 * 1024

describe('A request that is large', () => {
  const parsing = watchParsing()
  let gateway: TestGateway
  let upstream: ScriptedUpstream

  before(async () => {
    upstream = await scriptedUpstream()
    upstream.on(({ path }) => json((path === anthropic.path ? anthropic : openai).whole({ text: ['Hello!'] })))
    gateway = await startTestGateway({
      env: { KEY: 'sk-ant-1' },
      routes: {
        chain: [{ plugin: 'auth' }],
        namespaces: {
          // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference of routes.yaml
          claude: { provider: 'anthropic', config: { baseUrl: upstream.origin, apiKey: '${env:KEY}' } },
          mistral: { provider: 'openai-compatible', config: { preset: 'mistral', baseUrl: `${upstream.origin}/v1` } },
        },
      },
    })
    // The thread compiles its modules with the first request.
    expect((await send({ model: 'claude/m', messages: LONG })).status).to.equal(200)
  })

  after(async () => {
    await gateway?.stop()
    await upstream?.close()
  })

  async function send(body: object) {
    const reply = await gateway.fetch('/v1/chat/completions', { json: body })
    const text = await reply.text()
    const { error } = parsing.parse(text) as { error?: { code: string; param: string; message: string } }
    return { status: reply.status, error, headers: reply.headers, text }
  }

  /** The body of the last request that the upstream got. */
  const received = () => parsing.parse(upstream.requests.at(-1)!.body.toString())

  for (const [name, messages] of [
    ['2 MB of ordinary messages', LONG],
    ['20,000 messages', MANY],
  ] as const) {
    it(`by ${name} is translated without being parsed on the event loop`, async () => {
      const { status, text, headers } = await send({ model: 'claude/m', max_tokens: 5, seed: 7, messages })
      expect(status, text).to.equal(200)
      expect(parsing.longest).to.be.below(SMALL)
      expect(headers.get('x-umg-params-dropped')).to.equal('seed')
      const { model, max_tokens, messages: sent } = received()
      expect([model, max_tokens]).to.deep.equal(['m', 5])
      const blocks = sent.flatMap(({ content }: { content: unknown[] }) => content)
      expect(blocks).to.deep.equal(messages.map(({ content }) => ({ type: 'text', text: content })))
    })
  }

  it('is changed for a vendor with quirks without being parsed on the event loop, and keeps its other bytes', async () => {
    const tools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object', maxProperties: 7 } } }]
    const body = { model: 'mistral/m', tools, messages: [...LONG, message('Be brief', 'developer')] }
    const bytes = JSON.stringify(body).replace('"maxProperties":7', '"maxProperties":9223372036854775807')
    const headers = { 'content-type': 'application/json' }
    const reply = await gateway.fetch('/v1/chat/completions', { method: 'POST', body: bytes, headers })
    expect(reply.status, await reply.text()).to.equal(200)
    expect(parsing.longest).to.be.below(SMALL)
    const expected = bytes.replace('mistral/m', 'm').replace('"developer"', '"system"')
    expect(upstream.requests.at(-1)!.body.toString()).to.equal(expected)
  })

  for (const [mistake, messages, error] of [
    ['a message that is none', [...LONG, message('Hi', 'nobody')], { code: 'invalid_value', param: 'messages[300].role' }],
    [
      'a part that the model cannot read',
      [...LONG, message([{ type: 'input_audio', input_audio: { data: '', format: 'wav' } }])],
      { code: 'unsupported_parameter', param: 'messages[300].content[0]' },
    ],
  ] as const) {
    it(`is refused for ${mistake}, by the position in it`, async () => {
      const before = upstream.requests.length
      const refused = await send({ model: 'claude/m', messages })
      expect(refused.status).to.equal(400)
      expect(refused.error).to.include(error)
      expect(upstream.requests.length).to.equal(before)
    })
  }

  it('is refused for a parameter that the model cannot honour', async () => {
    const { status, error } = await send({ model: 'claude/m', n: 2, messages: LONG })
    expect([status, error?.code, error?.param]).to.deep.equal([400, 'unsupported_parameter', 'n'])
    expect(parsing.longest).to.be.below(SMALL)
  })
})
