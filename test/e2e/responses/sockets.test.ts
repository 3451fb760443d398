import { once } from 'node:events'
import { expect } from 'chai'
import { ResponsesWS } from 'openai/resources/responses/ws'
import { hold, openaiReply, sse } from '../../../core/testing/kit.ts'
import { type ResponsesFixture, response, responseEvents, startFixture } from './fixture.ts'
import { connect, refused } from './socket-client.ts'

const MODEL = 'open/gpt'
const said = (text: string) => sse(openaiReply({ text }).stream)

describe('a socket at /v1/responses', () => {
  let fixture: ResponsesFixture

  before(async () => {
    fixture = await startFixture()
  })
  after(() => fixture?.stop())

  it('answers turns of a translated model with the events of the stream', async () => {
    const { gateway, open } = fixture
    await using _ = { [Symbol.asyncDispose]: async () => undefined }
    const socket = await connect(gateway)
    open.reply(said('Hello'))
    const end = await socket.turn({ model: MODEL, input: 'Hi' })
    expect(end.type).to.equal('response.completed')
    expect(JSON.stringify(end)).to.include('Hello')
    expect(socket.events.map(({ type }) => type).slice(0, 2)).to.deep.equal(['response.created', 'response.in_progress'])
    open.reply(said('Again'))
    expect(JSON.stringify(await socket.turn({ model: MODEL, input: 'Hi' }))).to.include('Again')
    expect(await socket.close()).to.include({ code: 1005 })
  })

  it("passes an upstream's own events on", async () => {
    const { gateway, open } = fixture
    const socket = await connect(gateway)
    const events = responseEvents('Grüße')
    const asked = open.reply(sse(events))
    await socket.turn({ model: 'native/gpt', input: 'Hi', store: false, n: 12345678901234567890n.toString() })
    const sent = events.map((event) => JSON.parse(event.slice(event.indexOf('{'))))
    expect(socket.events).to.deep.equal(sent)
    expect((await asked).json()).to.include({ stream: true, model: 'gpt' })
    await socket.close()
  })

  it("works by OpenAI's SDK", async () => {
    const { gateway, open } = fixture
    const ws = new ResponsesWS(gateway.openai())
    open.reply(said('Hello'))
    ws.send({ type: 'response.create', model: MODEL, input: 'Hi' })
    let text = ''
    ws.on('response.output_text.delta', ({ delta }) => {
      text += delta
    })
    await new Promise<void>((resolve, reject) => {
      ws.on('response.completed', () => resolve())
      ws.on('error', reject)
    })
    expect(text).to.equal('Hello')
    ws.close()
  })

  it('refuses a wrong key at the handshake', async () => {
    const { status, error, headers } = await refused(fixture.gateway, { key: 'sk-live-wrong' })
    expect(status).to.equal(401)
    expect(error).to.include({ code: 'invalid_api_key' })
    expect(headers['x-request-id']).to.be.a('string')
  })

  it('ends the call if its client closes the socket', async () => {
    const { gateway, open } = fixture
    const socket = await connect(gateway)
    const gate = hold()
    const asked = open.reply(sse([openaiReply({ text: 'Hello' }).stream[0]!, gate]))
    socket.send({ type: 'response.create', model: MODEL, input: 'Hi' })
    const { closed } = await asked
    await socket.close()
    await closed
    const row = await gateway.logged(({ outcome }) => outcome === 'client_closed')
    expect(row).to.include({ status: 499, endpoint: 'responses' })
    void once
    void response
  })
})
