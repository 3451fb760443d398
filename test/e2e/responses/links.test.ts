import { expect } from 'chai'
import { type ReadResponse, readResponseStream } from '../../../core/testing/conformance/read-responses.ts'
import { json, openaiReply, sse } from '../../../core/testing/kit.ts'
import { REDACTOR } from '../messages/redactor.ts'
import { type ResponsesFixture, response, responseEvents, startFixture } from './fixture.ts'

describe('A link of the chain, at /v1/responses', () => {
  let fixture: ResponsesFixture

  before(async () => {
    fixture = await startFixture({ files: { 'redactor.ts': REDACTOR }, chain: [{ plugin: './redactor.ts' }] })
  })
  after(() => fixture?.stop())

  const ask = (model: string, input: unknown, more: object = {}) =>
    fixture.gateway.fetch('/v1/responses', { json: { model, max_output_tokens: 50, instructions: 'Be brief.', input, ...more } })

  const chat = (stream: boolean) => {
    const { whole, stream: events } = openaiReply({ text: 'Hi' })
    return fixture.open.reply(stream ? sse(events) : json(whole))
  }

  const textOf = ({ output }: Pick<ReadResponse, 'output'>): unknown =>
    (output[0]!.content as readonly { readonly text: string }[])[0]!.text

  for (const namespace of ['native', 'open']) {
    it(`sees a chat completion request (${namespace})`, async () => {
      if (namespace === 'native') fixture.open.reply(json(response('Hi')))
      else chat(false)
      const reply = await ask(`${namespace}/m`, 'Hello')
      expect(reply.status).to.equal(200)
      const keys = ['model', 'messages', 'max_completion_tokens']
      expect(JSON.parse(reply.headers.get('x-seen')!)).to.deep.equal(['responses', 'responses', keys, 50, 'Hello'])
    })

    it(`can edit it, and nothing of what it took out is sent (${namespace})`, async () => {
      const asked = chat(false)
      expect((await ask(`${namespace}/m`, 'secret')).status).to.equal(200)
      const sent = (await asked).body.toString()
      expect(sent).to.contain('…').and.not.contain('secret')
      expect(sent).to.contain('Be brief.')
    })

    it(`can change the reply, whole and streamed (${namespace})`, async () => {
      chat(false)
      const whole = (await (await ask(`${namespace}/m`, 'hush')).json()) as ReadResponse
      expect(textOf(whole)).to.equal('xx')
      chat(true)
      const read = readResponseStream(await (await ask(`${namespace}/m`, 'hush', { stream: true })).text())
      expect(textOf(read)).to.equal('xx')
    })
  }

  it('can answer by itself with a completion or chunks', async () => {
    const whole = (await (await ask('native/m', 'own')).json()) as ReadResponse
    expect(textOf(whole)).to.equal('own words')
    const { output, status } = readResponseStream(await (await ask('native/m', 'own', { stream: true })).text())
    expect([textOf({ output }), status]).to.deep.equal(['own words', 'completed'])
  })

  it('that changes nothing leaves the bytes as they were, and the events', async () => {
    const asked = fixture.open.reply(sse([responseEvents('Hi').join('')]))
    const more = { stream: true, store: false, conversation: 'conv_1', tools: [{ type: 'web_search' }], new_one: 1 }
    const reply = await ask('native/m', 'Hello', more)
    expect(await reply.text()).to.equal(responseEvents('Hi').join(''))
    expect((await asked).json()).to.deep.include({ model: 'm', ...more })
  })

  it('that changes a call which only OpenAI could serve gets 400 for the client, not a wrong answer', async () => {
    const before = fixture.open.requests.length
    const reply = await ask('native/m', 'secret', { previous_response_id: 'resp_1' })
    const { error } = (await reply.json()) as { error: { param: string } }
    expect([reply.status, error.param, fixture.open.requests.length]).to.deep.equal([400, 'previous_response_id', before])
  })
})
