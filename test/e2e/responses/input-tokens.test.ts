import { expect } from 'chai'
import OpenAI from 'openai'
import { json } from '../../../core/testing/kit.ts'
import { type ResponsesFixture, startFixture } from './fixture.ts'

const ASKED = {
  instructions: 'Be brief.',
  input: 'How is the weather in Ulm today?',
  tools: [{ type: 'function' as const, name: 'weather', parameters: { type: 'object', properties: {} }, strict: false }],
}

describe('POST /v1/responses/input_tokens', () => {
  let fixture: ResponsesFixture

  before(async () => {
    fixture = await startFixture({
      namespaces: ({ open }) => ({
        openai: { provider: 'openai-compatible', config: { preset: 'openai', baseUrl: `${open.origin}/openai` } },
      }),
    })
  })
  after(() => fixture?.stop())

  it('is answered by OpenAI for its own models, costs nothing and is recorded', async () => {
    const { client, open, gateway } = fixture
    const asked = open.reply(json({ object: 'response.input_tokens', input_tokens: 14 }))
    const { data, request_id: id } = await client.responses.inputTokens.count({ model: 'openai/gpt', ...ASKED }).withResponse()
    expect(data).to.deep.equal({ object: 'response.input_tokens', input_tokens: 14 })
    const { path, json: body } = await asked
    expect([path, body()]).to.deep.equal(['/openai/responses/input_tokens', { model: 'gpt', ...ASKED }])
    const line = await gateway.logged((one) => one.id === id)
    expect(line).to.deep.include({ endpoint: 'responses.input_tokens', outcome: 'ok' })
    expect(line.tokens).to.deep.equal({ input: 0, output: 0 })
  })

  it('is answered by Anthropic for a Claude, by the prompt that it would get', async () => {
    const { client, claude } = fixture
    const asked = claude.reply(json({ input_tokens: 21 }))
    const counted = await client.responses.inputTokens.count({ model: 'claude/claude-x', ...ASKED, reasoning: { effort: 'low' } })
    expect(counted).to.deep.equal({ object: 'response.input_tokens', input_tokens: 21 })
    const { path, json: body } = await asked
    expect(path).to.equal('/v1/messages/count_tokens')
    const sent = body() as Record<string, unknown>
    // Anthropic answers 400 to members of a message that it does not count.
    expect(Object.keys(sent)).to.have.members(['model', 'system', 'messages', 'tools', 'thinking', 'output_config'])
    expect(sent).to.deep.include({ model: 'claude-x' })
    expect(JSON.stringify(sent)).to.include(ASKED.input).and.to.include(ASKED.instructions).and.to.include('"weather"')
  })

  it('is answered by Google for a Gemini', async () => {
    const { client, gemini } = fixture
    const asked = gemini.reply(json({ totalTokens: 31 }))
    const counted = await client.responses.inputTokens.count({ model: 'gemini/gemini-2.5-pro', ...ASKED })
    expect(counted).to.deep.equal({ object: 'response.input_tokens', input_tokens: 31 })
    expect((await asked).path).to.equal('/v1beta/models/gemini-2.5-pro:countTokens')
  })

  it('is counted by the gateway for all others, without an upstream', async () => {
    const { client, open } = fixture
    const before = open.requests.length
    const few = await client.responses.inputTokens.count({ model: 'open/gpt', input: ASKED.input })
    expect(few.object).to.equal('response.input_tokens')
    expect(few.input_tokens).to.be.within(8, 20)
    // Of an upstream that has the Responses API it is not known whether it counts.
    const more = await client.responses.inputTokens.count({ model: 'native/gpt', ...ASKED })
    expect(more.input_tokens).to.be.within(few.input_tokens + 10, few.input_tokens + 60)
    expect(open.requests.length).to.equal(before)
  })

  it('knows only models that the key may call', async () => {
    const error = await fixture.client.responses.inputTokens
      .count({ model: 'nope/x', ...ASKED })
      .catch((thrown: unknown) => thrown)
    expect(error).to.be.instanceOf(OpenAI.NotFoundError)
  })

  it('refuses a response that nobody keeps', async () => {
    const error = await fixture.client.responses.inputTokens
      .count({ model: 'open/gpt', input: 'Hi', previous_response_id: 'resp_1' })
      .catch((thrown: unknown) => thrown)
    expect(error).to.be.instanceOf(OpenAI.BadRequestError)
    expect(error).to.include({ param: 'previous_response_id' })
  })
})
