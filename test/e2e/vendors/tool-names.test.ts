// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${…} is the syntax of routes.yaml
import { expect } from 'chai'
import {
  json,
  openaiReply,
  type ReceivedRequest,
  type Script,
  type ScriptedUpstream,
  scriptedUpstream,
  sse,
} from '../../../core/testing/kit.ts'
import { message, tool } from '../../plugins/providers/anthropic/messages-api.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'

const LONG = `mcp__plugin_${'company_knowledge_'.repeat(4)}__search_everything`
/** It differs from the other only after the letters that a fitted name keeps. */
const TWIN = `${LONG}_again`
const DOTTED = 'calendar.respondToEvent/now'
const PARAMETERS = { type: 'object', properties: { name: { type: 'string', default: LONG } } }
const offered = (name: string) => ({ type: 'function', function: { name, parameters: PARAMETERS } })

/** A call as a client writes it: with spaces, and a number that JavaScript would round. */
const body = (model: string, more: object = {}) =>
  JSON.stringify(
    {
      model,
      seed: 1,
      tools: [LONG, TWIN, DOTTED, 'plain'].map(offered),
      messages: [{ role: 'user', content: 'Hi.', name: LONG.slice(0, 9) }],
      ...more,
    },
    null,
    1,
  ).replace('"seed": 1', '"seed": 12345678901234567891')

interface Tool {
  readonly name?: string
  readonly function?: { readonly name: string }
}
const namesIn = (request: ReceivedRequest): readonly string[] =>
  (request.json() as { tools: readonly Tool[] }).tools.map((each) => each.function?.name ?? each.name!)

describe('names of tools that a vendor does not take, in chat completions', () => {
  let upstream: ScriptedUpstream
  let gateway: TestGateway
  let asked: ReceivedRequest

  before(async () => {
    upstream = await scriptedUpstream()
    upstream.on((request): Script => {
      asked = request
      const { stream } = request.json() as { stream?: boolean }
      // The model calls the second tool, by the name that it was offered.
      const name = namesIn(request)[1]!
      const isClaude = request.path === '/v1/messages'
      const { whole, stream: events } = isClaude
        ? message([tool('toolu_1', name, '{}')], { stop_reason: 'tool_use' })
        : openaiReply({ tools: [{ name, arguments: {} }] })
      return stream ? sse(events) : json(whole)
    })
    const key = { apiKey: '${env:KEY}' }
    const namespace = (config: object, provider = 'openai-compatible') => ({
      provider,
      breaker: false,
      config: { ...key, ...config },
    })
    gateway = await startTestGateway({
      env: { KEY: 'up' },
      routes: {
        chain: [{ plugin: 'auth' }],
        namespaces: {
          openai: namespace({ preset: 'openai', baseUrl: `${upstream.origin}/v1` }),
          own: namespace({ baseUrl: `${upstream.origin}/v1` }),
          claude: namespace({ baseUrl: upstream.origin }, 'anthropic'),
        },
      },
    })
  })
  after(async () => {
    await gateway?.stop()
    await upstream?.close()
  })

  const send = (text: string): Promise<Response> =>
    gateway.fetch('/v1/chat/completions', { method: 'POST', body: text, headers: { 'content-type': 'application/json' } })

  for (const model of ['openai/gpt-4.1', 'claude/claude-haiku-4-5'])
    it(`are shortened for ${model}, each to a name of its own, and come back as the client's`, async () => {
      const reply = await send(body(model))
      const words = await reply.text()
      expect(reply.status, words).to.equal(200)
      const sent = namesIn(asked)
      const most = model.startsWith('openai') ? 64 : 128
      for (const name of sent) expect(name).to.match(new RegExp(`^[A-Za-z0-9_-]{1,${most}}$`))
      expect(new Set(sent).size).to.equal(4)
      expect(sent[3]).to.equal('plain')
      expect(JSON.parse(words).choices[0].message.tool_calls[0].function.name).to.equal(TWIN)
      await (await send(body(model))).text()
      expect(namesIn(asked), 'the same in every turn').to.deep.equal(sent)
    })

  it('reach Claude, which takes 128 letters, as they are', async () => {
    await (await send(body('claude/claude-haiku-4-5'))).text()
    expect(namesIn(asked).slice(0, 2)).to.deep.equal([LONG, TWIN])
  })

  for (const model of ['openai/gpt-4.1', 'claude/claude-haiku-4-5'])
    it(`come back in a stream of ${model}`, async () => {
      const words = await (await send(body(model, { stream: true }))).text()
      expect(words).to.include(`"name":"${TWIN}"`)
    })

  it('are the same in choices, in earlier calls and in their results; nothing else changes', async () => {
    const called = { id: 'call_1', type: 'function', function: { name: LONG, arguments: '{"name":"x.y"}' } }
    const messages = [
      { role: 'user', content: 'Hi.', name: 'Ann Example' },
      { role: 'assistant', content: null, tool_calls: [called] },
      { role: 'tool', tool_call_id: 'call_1', name: LONG, content: LONG },
    ]
    const choice = {
      type: 'allowed_tools',
      allowed_tools: { mode: 'auto', tools: [{ type: 'function', function: { name: DOTTED } }] },
    }
    const text = body('openai/gpt-4.1', { messages, tool_choice: choice })
    expect((await send(text)).status).to.equal(200)
    const [long, twin, dotted] = namesIn(asked)
    const places = [`"name": "${LONG}"`, `"name": "${TWIN}"`, `"name": "${DOTTED}"`]
    const fitted = [long, twin, dotted].map((name) => `"name": "${name}"`)
    const expected = places.reduce((words, place, index) => words.replaceAll(place, fitted[index]!), text)
    expect(asked.body.toString()).to.equal(expected.replace('"openai/gpt-4.1"', '"gpt-4.1"'))
    await (await send(body('openai/gpt-4.1', { tool_choice: { type: 'function', function: { name: LONG } } }))).text()
    expect((asked.json() as { tool_choice: Tool }).tool_choice.function!.name).to.equal(long)
  })

  it('are passed on byte for byte where no limit is known, and where all names fit', async () => {
    for (const [model, text] of [
      ['own/m', body('own/m')],
      ['openai/m', body('openai/m', { tools: [offered('plain'), offered('x'.repeat(64))] })],
    ] as const) {
      await (await send(text)).text()
      expect(asked.body.toString()).to.equal(text.replace(`"${model}"`, '"m"'))
    }
  })

  it('are shortened in a call too large to be parsed at once', async () => {
    const filler = Array.from({ length: 40 }, (_, index) => ({ role: 'user', content: String(index).repeat(40_000) }))
    const words = await (await send(body('openai/gpt-4.1', { messages: filler }))).text()
    expect(namesIn(asked)[0]).to.have.lengthOf.at.most(64)
    expect(JSON.parse(words).choices[0].message.tool_calls[0].function.name).to.equal(TWIN)
  })
})
