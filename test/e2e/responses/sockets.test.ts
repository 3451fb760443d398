import { expect } from 'chai'
import { ResponsesWS } from 'openai/resources/responses/ws'
import { hold, json, openaiReply, sse } from '../../../core/testing/kit.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { rawHttp } from '../../support/raw-http.ts'
import { named, type ResponsesFixture, response, responseEvents, startFixture } from './fixture.ts'
import { connect, refused, type SocketClient } from './socket-client.ts'

const MODEL = 'open/gpt'
const said = (text: string) => sse(openaiReply({ text }).stream)
const create = (more: object = {}) => ({ type: 'response.create', model: MODEL, input: 'Hi', ...more })

describe('a socket at /v1/responses', () => {
  let fixture: ResponsesFixture
  let socket: SocketClient

  before(async () => {
    const smart = { targets: [{ model: MODEL }], fallbacks: ['open/other'] }
    fixture = await startFixture({ namespaces: () => ({ acme: { models: { smart } } }) })
  })
  after(() => fixture?.stop())

  beforeEach(async () => {
    socket = await connect(fixture.gateway)
  })
  afterEach(() => socket?.close())

  it('answers turns by a translated model with the events of the stream', async () => {
    for (const text of ['Hello', 'Grüße 😀']) {
      fixture.open.reply(said(text))
      const end = await socket.turn({ model: MODEL, input: 'Hi' })
      expect(end.type).to.equal('response.completed')
      expect(JSON.stringify(end)).to.include(text)
    }
    const types = socket.events.map(({ type }) => type)
    expect(types.slice(0, 2)).to.deep.equal(['response.created', 'response.in_progress'])
    expect(types.filter((type) => type === 'response.completed')).to.have.length(2)
  })

  it("passes an upstream's own events on, and the client's own body", async () => {
    const events = responseEvents('Grüße')
    const asked = fixture.open.reply(sse(events))
    socket.send('{ "type": "response.create", "model": "native/gpt","store":false, "input":"Hi", "seed": 12345678901234567890 }')
    await socket.end()
    expect(socket.events).to.deep.equal(events.map((event) => JSON.parse(event.slice(event.indexOf('{')))))
    expect((await asked).body.toString()).to.equal(
      '{"stream":true,"model": "gpt","store":false,"input":"Hi","seed": 12345678901234567890}',
    )
  })

  it("works by OpenAI's SDK", async () => {
    const ws = new ResponsesWS(fixture.gateway.openai())
    fixture.open.reply(said('Hello'))
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

  it('serves several turns, also of messages of more than a megabyte', async () => {
    const input = 'word '.repeat(300_000)
    for (const [index, size] of [input, 'Hi'].entries()) {
      fixture.open.reply(said(`Answer ${index}`))
      socket.send(create({ input: size }))
    }
    for (const index of [0, 1]) expect(JSON.stringify(await socket.end())).to.include(`Answer ${index}`)
  })

  it('has a row, a log line and metrics for each turn, with a request id of its own', async () => {
    const isTurn = ({ endpoint, outcome }: Record<string, unknown>): boolean => endpoint === 'responses' && outcome === 'ok'
    const before = fixture.gateway.log.filter(isTurn).length
    for (const text of ['One', 'Two']) {
      fixture.open.reply(said(text))
      await socket.turn({ model: MODEL, input: 'Hi' })
    }
    const lines = fixture.gateway.log.filter(isTurn).slice(before)
    expect(lines).to.have.length(2)
    expect(new Set(lines.map(({ id }) => id)).size).to.equal(2)
    expect(lines[0]).to.include({ stream: true, status: 200, model: 'gpt' })
    expect(await fixture.gateway.metric('umg_sockets_open')).to.be.greaterThan(0)
    expect(await fixture.gateway.metric('umg_socket_turns_total')).to.be.greaterThan(1)
  })

  it('sends an error of a turn with its status and its headers, and goes on', async () => {
    const error = await socket.turn({ model: 'nowhere/gpt', input: 'Hi' })
    expect(error).to.deep.include({ type: 'error', status: 404 })
    expect(error.error).to.include({ code: 'model_not_found' })
    const { id } = await fixture.gateway.logged((line) => line.error === 'model_not_found')
    expect(error.headers).to.deep.include({ 'x-request-id': id })
    fixture.open.reply(said('Hello'))
    expect((await socket.turn({ model: MODEL, input: 'Hi' })).type).to.equal('response.completed')
  })

  it('sends the refusal of an upstream, and the error of a stream that breaks off', async () => {
    fixture.open.reply(json({ error: { message: 'No.', type: 'invalid_request_error', code: 'odd' } }, { status: 400 }))
    expect(await socket.turn({ model: MODEL, input: 'Hi' })).to.include({ type: 'error', status: 400 })
    fixture.open.reply(sse(responseEvents('Hi').slice(0, 2)))
    const broken = await socket.turn({ model: 'native/gpt', input: 'Hi', store: false })
    expect(broken).to.include({ type: 'error', status: 502, code: 'upstream_disconnected', sequence_number: 2 })
    fixture.open.reply(
      sse([
        ...responseEvents('Hi').slice(0, 2),
        named('response.failed', {
          response: { ...response(''), status: 'failed', error: { code: 'server_error', message: 'No.' } },
        }),
      ]),
    )
    expect((await socket.turn({ model: 'native/gpt', input: 'Hi', store: false })).type).to.equal('error')
  })

  it('tries another target without a sign of it', async () => {
    fixture.open.reply(json({ error: { message: 'down' } }, { status: 500 }))
    fixture.open.reply(said('Hello'))
    const end = await socket.turn({ model: 'acme/smart', input: 'Hi' })
    expect(end.type).to.equal('response.completed')
    expect(socket.events.filter(({ type }) => type === 'response.created')).to.have.length(1)
  })

  it('ends the call if its client closes the socket', async () => {
    const gate = hold()
    const asked = fixture.open.reply([...sse(openaiReply({ text: 'Hello' }).stream.slice(0, 2)), gate])
    const leaver = await connect(fixture.gateway)
    leaver.send(create())
    const { closed } = await asked
    await leaver.next()
    leaver.ws.terminate()
    await closed
    const line = await fixture.gateway.logged(({ outcome }) => outcome === 'client_closed')
    expect(line).to.include({ status: 499, endpoint: 'responses' })
  })

  it('ends a turn that waits for its upstream too', async () => {
    const gate = hold()
    const asked = fixture.open.reply([gate])
    const leaver = await connect(fixture.gateway)
    leaver.send(create())
    const { closed } = await asked
    await leaver.close()
    await closed
  })

  describe('with lanes', () => {
    it('runs them side by side, and the turns of one after the other', async () => {
      const gates = [hold(), hold()]
      const first = fixture.open.reply([gates[0]!, ...said('first')])
      socket.send(create({ stream_id: 'a' }))
      await first
      const other = fixture.open.reply([gates[1]!, ...said('other')])
      socket.send(create({ stream_id: 'a', input: 'second' }))
      socket.send(create({ stream_id: 'b.1-_' }))
      await other
      expect(fixture.open.requests.at(-1)!.body.toString()).to.not.include('second')
      gates[1]!.release()
      expect(JSON.stringify(await socket.end('b.1-_'))).to.include('other')
      fixture.open.reply(said('second'))
      gates[0]!.release()
      expect(JSON.stringify(await socket.end('a'))).to.include('first')
      expect(JSON.stringify(await socket.end('a'))).to.include('second')
      expect(socket.events.every(({ stream_id }) => typeof stream_id === 'string')).to.equal(true)
    })

    it('refuses a name that is not valid, and the thirty-third', async () => {
      for (const stream_id of ['', 'a b', 'x'.repeat(257), 7])
        expect((await socket.turn({ model: MODEL, input: 'Hi', stream_id })).error).to.include({ code: 'invalid_stream_id' })
      for (let lane = 0; lane < 32; lane++) socket.send(create({ model: 'nowhere/m', stream_id: `lane-${lane}` }))
      for (let lane = 0; lane < 32; lane++) expect((await socket.next()).status).to.equal(404)
      const error = await socket.turn({ model: MODEL, input: 'Hi', stream_id: 'one-more' })
      expect(error).to.include({ status: 400, stream_id: 'one-more' })
      expect(error.error).to.include({ code: 'websocket_stream_limit_reached' })
      expect((await socket.turn({ model: 'nowhere/m', input: 'Hi', stream_id: 'lane-7' })).status).to.equal(404)
    })

    it('begins sixteen turns at most, and closes a socket on which too many wait', async () => {
      const gate = hold()
      const before = fixture.open.requests.length
      const begun = Array.from({ length: 16 }, () => fixture.open.reply([gate, ...said('Hi')]))
      for (let lane = 0; lane < 17; lane++) socket.send(create({ stream_id: `lane-${lane}` }))
      await Promise.all(begun)
      for (let waiting = 0; waiting < 64; waiting++) socket.send(create({ stream_id: 'lane-1' }))
      const error = await socket.next(({ type }) => type === 'error')
      expect(error).to.include({ status: 429 })
      expect(error.error).to.include({ code: 'websocket_queue_full' })
      expect(fixture.open.requests.length - before).to.equal(16)
      gate.release()
      expect(await socket.closed).to.include({ code: 1008 })
      expect(socket.events.filter(({ type }) => type === 'response.completed')).to.have.length(16)
    })
  })

  describe('that gets', () => {
    const rowOf = (error: string) => fixture.gateway.logged((line) => line.error === error)

    it('a message that is not JSON, is closed with 1007 after an error event', async () => {
      for (const text of ['{"type":"response.create",', 'hello', '[]', `{"input":"${'x'.repeat(1 << 20)}`]) {
        const other = await connect(fixture.gateway)
        other.send(text)
        expect(await other.next()).to.include({ type: 'error', status: 400 })
        expect(await other.closed).to.include({ code: 1007 })
      }
      expect(await rowOf('invalid_json')).to.include({ status: 400 })
    })

    it('text that is not UTF-8, is closed with 1007', async () => {
      socket.ws.send(Buffer.from([0x22, 0xff, 0x22]), { binary: false })
      expect((await socket.next()).error).to.include({ code: 'malformed_frame' })
      expect(await socket.closed).to.include({ code: 1007 })
    })

    it('binary messages, is closed with 1003', async () => {
      socket.ws.send(Buffer.from('{}'), { binary: true })
      expect((await socket.next()).error).to.include({ code: 'binary_message' })
      expect(await socket.closed).to.include({ code: 1003 })
      expect(await rowOf('binary_message')).to.include({ status: 400 })
    })

    it('a frame that is not valid, is closed with 1002', async () => {
      const { _socket: raw } = socket.ws as unknown as { readonly _socket: { write(bytes: Buffer): void } }
      raw.write(Buffer.from([0xf1, 0x80, 0, 0, 0, 0]))
      expect((await socket.next()).error).to.include({ code: 'malformed_frame' })
      expect(await socket.closed).to.include({ code: 1002 })
    })

    it('a call in the background, says so and stays open', async () => {
      const turn = await socket.turn({ model: 'nowhere/m', input: 'Hi', background: true })
      expect(turn.status).to.equal(400)
      expect(turn.error).to.include({ code: 'unsupported_parameter', param: 'background' })
      expect((await socket.turn({ model: 'nowhere/m', input: 'Hi' })).status).to.equal(404)
    })

    it('another event, says so and stays open', async () => {
      socket.send({ type: 'response.steer', previous_response_id: 'resp_1', input: [] })
      expect((await socket.next()).error).to.include({ code: 'invalid_value', param: 'type' })
      expect((await socket.turn({ model: 'nowhere/m', input: 'Hi' })).status).to.equal(404)
    })
  })
})

describe('the handshake of a socket', () => {
  let fixture: ResponsesFixture
  let gateway: TestGateway

  before(async () => {
    fixture = await startFixture()
    gateway = fixture.gateway
  })
  after(() => fixture?.stop())

  const upgrade = (headers: object, url = gateway.url) =>
    rawHttp(`${url}/v1/responses`, {
      method: 'GET',
      headers: { authorization: `Bearer ${gateway.liveKey}`, connection: 'Upgrade', upgrade: 'websocket', ...headers },
    })

  it('is refused for a wrong key, or without one, and has a row', async () => {
    const { status, error, headers } = await refused(gateway, { key: 'sk-live-wrong' })
    expect([status, error.code]).to.deep.equal([401, 'invalid_api_key'])
    const { id } = await gateway.logged((line) => line.error === 'invalid_api_key')
    expect(headers['x-request-id']).to.equal(id)
    expect((await refused(gateway, { key: '' })).status).to.equal(401)
  })

  it('has a request id of its own in its 101', async () => {
    const ws = await connect(gateway)
    await ws.close()
    const { id } = await gateway.logged(({ status }) => status === 101)
    expect(id).to.be.a('string')
  })

  it('is refused without a key of RFC 6455, or by another version', async () => {
    for (const headers of [
      { 'sec-websocket-version': '13' },
      { 'sec-websocket-version': '8', 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==' },
    ]) {
      const reply = await upgrade(headers)
      expect(reply.status).to.equal(400)
      expect(reply.headers['sec-websocket-version']).to.equal('13')
      expect((await reply.error()).code).to.equal('malformed_handshake')
    }
  })

  it('is refused for a page of an origin that is not allowed', async () => {
    const { status, error } = await refused(gateway, { origin: 'https://elsewhere.example' })
    expect([status, error.code]).to.deep.equal([403, 'origin_not_allowed'])
  })

  it('is 426 where WebSockets are off, and at other endpoints', async () => {
    const off = await startTestGateway({
      routes: { chain: [{ plugin: 'auth' }], namespaces: { box: { provider: 'sandbox' } } },
      websockets: false,
    })
    const { status, error, headers } = await refused(off)
    expect([status, error.code, headers.upgrade]).to.deep.equal([426, 'websocket_unsupported', 'HTTP/1.1'])
    await off.stop()
    expect((await refused(gateway, { path: '/v1/chat/completions' })).status).to.equal(426)
  })

  it('is as without it for another protocol than websocket', async () => {
    const headers = {
      authorization: `Bearer ${gateway.liveKey}`,
      'content-type': 'application/json',
      connection: 'Upgrade, HTTP2-Settings',
      upgrade: 'h2c',
      'http2-settings': 'AAMAAABkAARAAAAAAAIAAAAA',
    }
    fixture.open.reply(json(openaiReply({ text: 'Hello' }).whole))
    const reply = await rawHttp(`${gateway.url}/v1/responses`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ model: MODEL, input: 'Hi' }),
    })
    expect(reply.status).to.equal(200)
  })
})
