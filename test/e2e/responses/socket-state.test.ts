import { expect } from 'chai'
import { json, openaiReply, type Script, sse } from '../../../core/testing/kit.ts'
import { named, type ResponsesFixture, response, responseEvents, startFixture } from './fixture.ts'
import { connect, type SocketClient, type SocketEvent } from './socket-client.ts'

const MODEL = 'open/gpt'
let made = 0
/** A stream of a chat completion, with an id of its own. */
function said(text: string): Script {
  const id = `chatcmpl-${++made}`
  return sse(openaiReply({ text }).stream.map((event) => event.replace(/"id":"chatcmpl[^"]*"/, `"id":"${id}"`)))
}
const idOf = ({ response: made }: SocketEvent): string => (made as { readonly id: string }).id

/** The events of a response with reasoning of which only its upstream knows the content, and with a message. */
const reasoned = (id: string, more = {}): Script => {
  const items = [
    { type: 'reasoning', id: 'rs_1', summary: [] },
    { type: 'reasoning', id: 'rs_2', summary: [], encrypted_content: 'sealed' },
    ...response('Hi').output,
  ]
  const whole = { ...response('Hi'), id, output: items, ...more }
  return sse([
    named('response.created', { sequence_number: 0, response: { ...whole, status: 'in_progress', output: [] } }),
    ...items.map((item, index) => named('response.output_item.done', { sequence_number: index + 1, output_index: index, item })),
    named('response.completed', { sequence_number: 9, response: whole }),
  ])
}

describe('what a socket remembers', () => {
  let fixture: ResponsesFixture
  let socket: SocketClient

  before(async () => {
    fixture = await startFixture()
  })
  after(() => fixture?.stop())

  beforeEach(async () => {
    socket = await connect(fixture.gateway)
  })
  afterEach(() => socket?.close())

  /** The body that the upstream gets of a turn, and the turn's last event. */
  async function turn(
    more: object,
    reply = said('Hello'),
  ): Promise<{ readonly sent: Record<string, unknown>; readonly end: SocketEvent }> {
    const asked = fixture.open.reply(reply)
    const end = await socket.turn({ model: MODEL, store: false, ...more })
    expect(end.type, JSON.stringify(end)).to.equal('response.completed')
    return { sent: (await asked).json() as Record<string, unknown>, end }
  }

  const textsOf = ({ messages }: Record<string, unknown>): string[] =>
    (messages as { readonly content: string }[]).map(({ content }) => content)

  it('goes on from a response of a translated model, over several turns', async () => {
    const first = await turn({ input: 'One', instructions: 'Be brief.' }, said('Uno'))
    const second = await turn({ input: [{ role: 'user', content: 'Two' }], previous_response_id: idOf(first.end) }, said('Dos'))
    expect(textsOf(second.sent)).to.deep.equal(['One', 'Uno', 'Two'])
    const third = await turn({ input: 'Three', previous_response_id: idOf(second.end) })
    expect(textsOf(third.sent)).to.deep.equal(['One', 'Uno', 'Two', 'Dos', 'Three'])
  })

  it('goes on without input of its own', async () => {
    const first = await turn({ input: 'One' })
    const second = await turn({ input: [], previous_response_id: idOf(first.end) })
    expect(textsOf(second.sent)).to.deep.equal(['One', 'Hello'])
    const third = await turn({ previous_response_id: idOf(second.end) })
    expect(textsOf(third.sent)).to.deep.equal(['One', 'HelloHello'])
  })

  it('goes on from a response that its upstream does not keep, without what only that could read', async () => {
    const { end } = await turn({ model: 'native/gpt', input: 'One' }, reasoned('resp_1'))
    const { sent } = await turn({ model: 'native/gpt', input: 'Two', previous_response_id: idOf(end) }, reasoned('resp_2'))
    expect(sent).to.not.have.property('previous_response_id')
    expect(sent.input).to.deep.equal([
      { type: 'message', role: 'user', content: 'One' },
      { type: 'reasoning', id: 'rs_2', summary: [], encrypted_content: 'sealed' },
      ...response('Hi').output,
      { type: 'message', role: 'user', content: 'Two' },
    ])
  })

  it('goes on at another model', async () => {
    const { end } = await turn({ model: 'native/gpt', input: 'One', store: true }, reasoned('resp_1'))
    const { sent } = await turn({ input: 'Two', previous_response_id: idOf(end) })
    expect(textsOf(sent)).to.deep.equal(['One', 'Hi', 'Two'])
  })

  it('leaves a response to its upstream that keeps it', async () => {
    const { end } = await turn({ model: 'native/gpt', input: 'One', store: true }, reasoned('resp_1'))
    expect(idOf(end)).to.match(/^resp_1\.umg/)
    const next = await turn(
      { model: 'native/gpt', input: 'Two', store: true, previous_response_id: idOf(end) },
      reasoned('resp_2'),
    )
    expect(next.sent).to.include({ input: 'Two', previous_response_id: 'resp_1' })
    const third = await turn({ input: 'Three', previous_response_id: idOf(next.end) })
    expect(textsOf(third.sent)).to.deep.equal(['One', 'Hi', 'Two', 'Hi', 'Three'])
  })

  it('has the items of a response whose upstream sends them with its end alone', async () => {
    const { end } = await turn({ model: 'native/gpt', input: 'One' }, sse(responseEvents('Hi')))
    const { sent } = await turn({ input: 'Two', previous_response_id: idOf(end) })
    expect(textsOf(sent)).to.deep.equal(['One', 'Hi', 'Two'])
  })

  it('is the newest response of each lane, and other lanes may go on from it', async () => {
    const reply = async (stream_id: string, more: object): Promise<readonly string[]> => {
      const asked = fixture.open.reply(said(`of ${stream_id}`))
      socket.send({ type: 'response.create', model: MODEL, store: false, stream_id, ...more })
      await socket.end(stream_id)
      return textsOf((await asked).json() as Record<string, unknown>)
    }
    await reply('a', { input: 'One' })
    const first = idOf(socket.events.at(-1)!)
    expect(await reply('b', { input: 'Fork', previous_response_id: first })).to.deep.equal(['One', 'of a', 'Fork'])
    await reply('a', { input: 'Two', previous_response_id: first })
    const error = await socket.turn({ model: MODEL, store: false, input: 'Late', previous_response_id: first })
    expect(error.error).to.include({ code: 'previous_response_not_found', param: 'previous_response_id' })
    expect(error).to.include({ status: 400 })
  })

  it('is nothing of a response from which a turn of its lane has failed to go on', async () => {
    const { end } = await turn({ input: 'One' })
    fixture.open.reply(json({ error: { message: 'No.', type: 'invalid_request_error' } }, { status: 400 }))
    const next = { model: MODEL, store: false, input: 'Two', previous_response_id: idOf(end) }
    expect(await socket.turn(next)).to.include({ type: 'error', status: 400 })
    expect((await socket.turn(next)).error).to.include({ code: 'previous_response_not_found' })
  })

  it('is of one socket alone', async () => {
    const { end } = await turn({ input: 'One' })
    const other = await connect(fixture.gateway)
    const error = await other.turn({ model: MODEL, store: false, input: 'Two', previous_response_id: idOf(end) })
    expect(error.error).to.include({ code: 'previous_response_not_found' })
    await other.close()
  })

  it('can be prepared without an answer, which calls no upstream and costs nothing', async () => {
    const before = fixture.open.requests.length
    const end = await socket.turn({ model: MODEL, store: false, generate: false, input: 'One', tools: [] })
    expect(end.type).to.equal('response.completed')
    expect(end.response).to.deep.include({ status: 'completed', output: [] })
    expect((end.response as { readonly usage: object }).usage).to.include({ input_tokens: 0, output_tokens: 0 })
    expect(socket.events.map(({ type }) => type)).to.deep.equal([
      'response.created',
      'response.in_progress',
      'response.completed',
    ])
    expect(fixture.open.requests.length).to.equal(before)
    const { sent } = await turn({ input: 'Two', previous_response_id: idOf(end) })
    expect(textsOf(sent)).to.deep.equal(['One', 'Two'])
    const line = await fixture.gateway.logged(
      (each) => each.endpoint === 'responses' && each.attempts === undefined && each.served === undefined && each.status === 200,
    )
    expect(line).to.not.have.property('costUsd')
  })
})
