import { expect } from 'chai'
import { json, openaiReply } from '../../../core/testing/kit.ts'
import { type Fixture, startFixture } from './fixture.ts'

/** More than a mebibyte, which is translated in a thread. */
const WORDS = 'Grüße aus Ulm. '.repeat(100_000)

describe('A large request to /v1/messages', () => {
  let fixture: Fixture

  before(async () => {
    fixture = await startFixture()
  })
  after(() => fixture?.stop())

  const body = (model: string) => ({
    model,
    max_tokens: 50,
    system: [{ type: 'text' as const, text: 'Be brief.', cache_control: { type: 'ephemeral' as const } }],
    messages: [{ role: 'user' as const, content: WORDS }],
    metadata: { user_id: 'ada' },
  })

  it('reaches an upstream of another protocol whole, and what is left out is named', async () => {
    const { client, open } = fixture
    const asked = open.reply(json(openaiReply({ text: 'Hi' }).whole))
    const { data, response } = await client.messages.create(body('open/gpt')).withResponse()
    expect(data.content[0]).to.include({ text: 'Hi' })
    expect(response.headers.get('x-umg-params-dropped')).to.equal('cache_control')
    const { messages, user } = (await asked).json() as { messages: { content: string }[]; user: string }
    expect([messages[0]!.content, messages[1]!.content === WORDS, user]).to.deep.equal(['Be brief.', true, 'ada'])
  })

  it('reaches Gemini, whose provider translates it in a thread too', async () => {
    const { client, gemini } = fixture
    const asked = gemini.reply(
      json({ candidates: [{ content: { role: 'model', parts: [{ text: 'Hi' }] }, finishReason: 'STOP' }] }),
    )
    const { response } = await client.messages.create(body('gemini/gemini-2.5-pro')).withResponse()
    expect(response.headers.get('x-umg-params-dropped')?.split(', ')).to.have.members(['cache_control', 'metadata.user_id'])
    expect((await asked).body.toString()).to.contain(WORDS.slice(0, 1000))
  })

  it('reaches Anthropic byte for byte', async () => {
    const { gateway, claude } = fixture
    const asked = claude.reply(json({ type: 'message', content: [], usage: { input_tokens: 1, output_tokens: 1 } }))
    await gateway.fetch('/v1/messages', { json: body('claude/claude-x') })
    expect((await asked).body.toString() === JSON.stringify(body('claude-x'))).to.equal(true)
  })

  it('is refused if it is invalid', async () => {
    const reply = await fixture.gateway.fetch('/v1/messages', { json: { ...body('open/gpt'), max_tokens: 'many' } })
    const { error } = (await reply.json()) as { error: { type: string; message: string } }
    expect([reply.status, error.type]).to.deep.equal([400, 'invalid_request_error'])
    expect(error.message).to.contain("'max_tokens'")
  })
})
