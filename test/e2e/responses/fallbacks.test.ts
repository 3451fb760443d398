import { expect } from 'chai'
import { readResponseStream } from '../../../core/testing/conformance/read-responses.ts'
import { json, openaiReply, sse } from '../../../core/testing/kit.ts'
import { type ResponsesFixture, response, startFixture } from './fixture.ts'

describe('POST /v1/responses, by a route whose targets have the API or not', () => {
  let fixture: ResponsesFixture

  before(async () => {
    fixture = await startFixture({
      namespaces: () => ({
        acme: {
          models: {
            first: { targets: [{ model: 'native/gpt' }], fallbacks: ['open/gpt'] },
            last: { targets: [{ model: 'open/gpt' }], fallbacks: ['native/gpt'] },
            cool: { targets: [{ model: 'native/gpt' }], defaults: { max_tokens: 7 } },
            seeded: { targets: [{ model: 'native/gpt' }], defaults: { seed: 7 } },
          },
        },
      }),
    })
  })
  after(() => fixture?.stop())

  const down = json({ error: { message: 'down' } }, { status: 500 })

  it('falls back from one form to the other, whole and streamed', async () => {
    const { client, open } = fixture
    open.reply(down)
    open.reply(json(openaiReply({ text: 'Hi' }).whole))
    expect((await client.responses.create({ model: 'acme/first', input: 'Hello' })).output_text).to.equal('Hi')
    expect(open.requests.slice(-2).map(({ path }) => path)).to.deep.equal(['/native/responses', '/v1/chat/completions'])
    open.reply(down)
    open.reply(sse(openaiReply({ text: 'Hi' }).stream))
    const reply = await fixture.gateway.fetch('/v1/responses', { json: { model: 'acme/first', input: 'Hello', stream: true } })
    expect(readResponseStream(await reply.text()).status).to.equal('completed')
  })

  it('goes on without the reasoning that another upstream signed', async () => {
    const { client, open } = fixture
    const tools = [{ type: 'function' as const, name: 'look', parameters: { type: 'object' }, strict: false }]
    open.reply(json(openaiReply({ reasoning: 'Hm.', tools: [{ name: 'look', arguments: {} }] }).whole))
    const asked = { model: 'acme/last', tools, input: [{ role: 'user' as const, content: 'Go.' }] }
    const { output } = await client.responses.create(asked)
    const [reasoning, call] = output
    expect([reasoning!.type, call!.type]).to.deep.equal(['reasoning', 'function_call'])
    const items = [...asked.input, ...output, { type: 'function_call_output', call_id: 'call_1', output: 'seen' }]
    open.reply(down)
    const next = open.reply(json(response('Done.')))
    await client.responses.create({ ...asked, input: items as never })
    await next
    const { path, json: body } = open.requests.at(-1)!
    expect(path).to.equal('/native/responses')
    const { input } = body() as { input: { type?: string }[] }
    expect(input.map(({ type }) => type)).to.deep.equal([undefined, 'function_call', 'function_call_output'])
  })

  for (const size of ['small', 'large'] as const) {
    for (const [what, error] of [
      ['by its code', { code: 'invalid_encrypted_content', message: 'The encrypted content gAAA could not be verified.' }],
      ['in words', { code: null, message: 'The encrypted content gAAA could not be verified.' }],
    ] as const) {
      it(`goes on without the reasoning that another key of the vendor has encrypted, if the upstream refuses it ${what}: ${size}`, async () => {
        const { open, gateway } = fixture
        const said = size === 'small' ? 'Go.' : 'Go. '.repeat(200_000)
        const input = [
          { role: 'user', content: said },
          { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAA' },
          { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'look', arguments: '{}' },
          { type: 'function_call_output', call_id: 'call_1', output: 'seen' },
        ]
        const refused = json({ error: { type: 'invalid_request_error', param: null, ...error } }, { status: 400 })
        open.reply(refused)
        open.reply(json(response('Done.')))
        const body = { model: 'native/gpt', input, store: false, new_one: 1 }
        expect((await gateway.fetch('/v1/responses', { json: body })).status).to.equal(200)
        const [first, second] = open.requests.slice(-2).map((request) => request.json())
        expect(first).to.deep.equal({ ...body, model: 'gpt' })
        const { id: _, ...call } = input[2]!
        expect(second).to.deep.equal({ ...body, model: 'gpt', input: [input[0], call, input[3]] })
        open.reply(refused)
        open.reply(refused)
        expect((await gateway.fetch('/v1/responses', { json: body })).status).to.equal(400)
      })
    }
  }

  it('is not asked again for any other refusal', async () => {
    const { open, gateway } = fixture
    const before = open.requests.length
    open.reply(json({ error: { type: 'invalid_request_error', code: 'invalid_value', message: 'No.' } }, { status: 400 }))
    const input = [
      { role: 'user', content: 'Go.' },
      { type: 'reasoning', summary: [], encrypted_content: 'gAAA' },
    ]
    expect((await gateway.fetch('/v1/responses', { json: { model: 'native/gpt', input } })).status).to.equal(400)
    expect(open.requests.length).to.equal(before + 1)
  })

  it('does not try a target that cannot know a stored response', async () => {
    const { client, open } = fixture
    open.reply(json(response('Hi')))
    const { id } = await client.responses.create({ model: 'native/gpt', input: 'Hello' })
    const asked = open.reply(json(response('Hi')))
    const body = { model: 'acme/last', input: 'Go on.', previous_response_id: id }
    expect((await client.responses.create(body)).output_text).to.equal('Hi')
    expect((await asked).path).to.equal('/native/responses')
  })

  it("gets a route's defaults under its own names, and as a chat completion those that it has no name for", async () => {
    const { client, open } = fixture
    const first = open.reply(json(response('Hi')))
    await client.responses.create({ model: 'acme/cool', input: 'Hello' })
    expect((await first).json()).to.deep.equal({ max_output_tokens: 7, model: 'gpt', input: 'Hello' })
    const second = open.reply(json(openaiReply({ text: 'Hi' }).whole))
    await client.responses.create({ model: 'acme/seeded', input: 'Hello', prompt_cache_key: 'k' })
    expect((await second).json()).to.deep.include({ seed: 7, prompt_cache_key: 'k' })
  })
})
