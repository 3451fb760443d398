import { expect } from 'chai'
import { json, openaiReply } from '../../../core/testing/kit.ts'
import { type ResponsesFixture, response, startFixture } from './fixture.ts'

/** More than a mebibyte, which is translated in a thread. */
const WORDS = 'Grüße aus Ulm. '.repeat(100_000)

describe('A large request to /v1/responses', () => {
  let fixture: ResponsesFixture

  before(async () => {
    fixture = await startFixture({
      namespaces: () => ({
        acme: { models: { smart: { targets: [{ model: 'native/gpt' }], fallbacks: ['open/gpt'] } } },
      }),
    })
  })
  after(() => fixture?.stop())

  const body = (model: string) => ({
    model,
    input: [{ role: 'user' as const, content: WORDS }],
    tools: [{ type: 'custom' as const, name: 'shell' }],
    prompt_cache_key: 'k',
  })

  it('reaches an upstream without the API whole, and its calls of custom tools come back as such', async () => {
    const { client, open } = fixture
    const asked = open.reply(json(openaiReply({ tools: [{ name: 'shell', arguments: { input: 'ls' } }] }).whole))
    const { data, response: head } = await client.responses.create(body('open/gpt')).withResponse()
    expect(data.output[0]).to.include({ type: 'custom_tool_call', input: 'ls' })
    expect(data.tools).to.deep.equal([])
    expect(head.headers.get('x-umg-params-dropped')).to.equal('prompt_cache_key')
    const { messages } = (await asked).json() as { messages: { content: string }[] }
    expect(messages[0]!.content === WORDS).to.equal(true)
  })

  it('reaches an upstream with the API byte for byte', async () => {
    const { gateway, open } = fixture
    const asked = open.reply(json(response('Hi')))
    await gateway.fetch('/v1/responses', { json: body('native/gpt') })
    expect((await asked).body.toString() === JSON.stringify(body('gpt'))).to.equal(true)
  })

  it('that refers to a stored response reaches the target that may have it, although the fallback could not serve it', async () => {
    const { client, open } = fixture
    open.reply(json(response('Hi')))
    const { id } = await client.responses.create(body('acme/smart'))
    const asked = open.reply(json(response('Hi')))
    const reply = await client.responses.create({ ...body('acme/smart'), previous_response_id: id })
    expect(reply.output_text).to.equal('Hi')
    expect((await asked).path).to.equal('/native/responses')
  })

  it('is refused if it is invalid', async () => {
    const reply = await fixture.gateway.fetch('/v1/responses', { json: { ...body('open/gpt'), temperature: 3 } })
    const { error } = (await reply.json()) as { error: { param: string } }
    expect([reply.status, error.param]).to.deep.equal([400, 'temperature'])
  })
})
