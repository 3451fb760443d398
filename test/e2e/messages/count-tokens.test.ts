import Anthropic from '@anthropic-ai/sdk'
import { expect } from 'chai'
import { json } from '../../../core/testing/kit.ts'
import { type Fixture, startFixture } from './fixture.ts'

const ASKED = { messages: [{ role: 'user' as const, content: 'How is the weather in Ulm today?' }] }

describe('POST /v1/messages/count_tokens', () => {
  let fixture: Fixture

  before(async () => {
    fixture = await startFixture()
  })
  after(() => fixture?.stop())

  it('is answered by Anthropic for its own models, and costs nothing', async () => {
    const { client, claude, gateway } = fixture
    const asked = claude.reply(json({ input_tokens: 14 }))
    const { data, request_id: id } = await client.messages.countTokens({ model: 'claude/claude-x', ...ASKED }).withResponse()
    expect(data).to.deep.equal({ input_tokens: 14 })
    const { path, json: body } = await asked
    expect([path, body()]).to.deep.equal(['/v1/messages/count_tokens', { model: 'claude-x', ...ASKED }])
    const line = await gateway.logged((one) => one.id === id)
    expect(line).to.deep.include({ endpoint: 'messages.count_tokens', outcome: 'ok' })
    expect(line.tokens).to.deep.equal({ input: 0, output: 0 })
  })

  it('is estimated by the gateway for all others, without an upstream', async () => {
    const { client, open } = fixture
    const { input_tokens: few } = await client.messages.countTokens({ model: 'open/gpt', ...ASKED })
    expect(few).to.be.within(10, 20)
    const content = [
      { type: 'thinking' as const, thinking: 'Let me see what the weather is like there.', signature: 's' },
      { type: 'tool_use' as const, id: 't', name: 'weather', input: { city: 'Ulm on the river Danube' } },
    ]
    const result = {
      type: 'tool_result' as const,
      tool_use_id: 't',
      content: [{ type: 'text' as const, text: 'Sun, all day long.' }],
    }
    const { input_tokens: more } = await client.messages.countTokens({
      model: 'open/gpt',
      system: 'Answer in one short sentence.',
      messages: [...ASKED.messages, { role: 'assistant', content }, { role: 'user', content: [result] }],
      tools: [{ name: 'weather', input_schema: { type: 'object' } }],
    })
    expect(more).to.be.within(few + 30, few + 90)
    expect(open.requests).to.have.length(0)
  })

  it('is answered by Google for a Gemini, by the prompt that it would get', async () => {
    const { client, gemini } = fixture
    const asked = gemini.reply(json({ totalTokens: 31 }))
    const counted = await client.messages.countTokens({
      model: 'gemini/gemini-2.5-pro',
      system: 'Be brief.',
      ...ASKED,
      tools: [{ name: 'weather', input_schema: { type: 'object' } }],
    })
    expect(counted).to.deep.equal({ input_tokens: 31 })
    const { path, json: body } = await asked
    expect(path).to.equal('/v1beta/models/gemini-2.5-pro:countTokens')
    const { model, contents, systemInstruction, tools } = (body() as { generateContentRequest: Record<string, unknown> })
      .generateContentRequest
    expect(model).to.equal('models/gemini-2.5-pro')
    expect(contents).to.deep.equal([{ role: 'user', parts: [{ text: ASKED.messages[0]!.content }] }])
    expect(systemInstruction).to.deep.equal({ parts: [{ text: 'Be brief.' }] })
    expect(JSON.stringify(tools)).to.contain('"weather"')
  })

  it('is estimated for a Gemini that Google does not count for, and fails if Google does', async () => {
    const { client, gateway, gemini } = fixture
    const error = { code: 404, status: 'NOT_FOUND', message: 'models/x is not supported for countTokens.' }
    gemini.on(() => json({ error }, { status: 404 }))
    const { input_tokens } = await client.messages.countTokens({ model: 'gemini/gemini-x', ...ASKED })
    expect(input_tokens).to.be.within(10, 20)
    gemini.on(() => json({ error: { code: 500, status: 'INTERNAL', message: 'No.' } }, { status: 500 }))
    const failed = await gateway.fetch('/v1/messages/count_tokens', { json: { model: 'gemini/gemini-x', ...ASKED } })
    expect(failed.status).to.equal(502)
  })

  it('knows only models that the key may call', async () => {
    const error = await fixture.client.messages.countTokens({ model: 'nope/x', ...ASKED }).catch((thrown: unknown) => thrown)
    expect(error).to.be.instanceOf(Anthropic.NotFoundError)
  })

  for (const [status, type, told] of [
    [400, 'invalid_request_error', 400],
    [401, 'authentication_error', 502],
    [429, 'rate_limit_error', 429],
    [500, 'api_error', 502],
  ] as const)
    it(`fails if Anthropic answers ${status}, and is not estimated`, async () => {
      fixture.claude.on(() => json({ type: 'error', error: { type, message: 'No.' } }, { status }))
      const refused = await fixture.gateway.fetch('/v1/messages/count_tokens', { json: { model: 'claude/claude-x', ...ASKED } })
      expect([refused.status, 'input_tokens' in ((await refused.json()) as object)]).to.deep.equal([told, false])
    })
})
