import { expect } from 'chai'
import { hold, sse } from '../../../core/testing/kit.ts'
import type { RawConnection } from '../../support/raw-connection.ts'
import { CHUNKS, COMPLETION, expectError, type Fixture, GOOD_BODY, startFixture } from './fixture.ts'

const LIMIT = 32 << 20
const NOISE = '\0\0\0\r\n\r\n'
const MALFORMED = { status: 400, code: 'malformed_http', headers: { connection: 'close' } }
const TOO_LARGE = { status: 413, code: 'request_too_large' }
const LIVEZ = 'GET /livez HTTP/1.1\r\nHost: gateway\r\n\r\n'
const OK = { status: 200, body: 'ok\n' }

describe('A client connection', () => {
  let fixture: Fixture
  let connection: RawConnection

  before(async () => {
    fixture = await startFixture()
  })

  beforeEach(async () => {
    connection = await fixture.connect()
  })

  afterEach(() => {
    connection?.socket.destroy()
  })

  after(() => fixture?.stop())

  /** Starts a stream that never ends, and resolves when its first event has come. */
  async function startStream(): Promise<{ readonly closed: Promise<void> }> {
    const received = fixture.upstream.reply(sse([...CHUNKS.slice(0, 2), hold()]))
    connection.write(fixture.call({ body: GOOD_BODY.replace('{', '{"stream":true,') }))
    await connection.until('"Hi!"')
    return received
  }

  it('gets the replies to a hundred pipelined requests in order', async () => {
    const names = Array.from({ length: 100 }, (_, index) => `up/model-${index}`)
    connection.write(Buffer.concat(names.map((name) => fixture.call({ requestLine: `GET /v1/models/${name} HTTP/1.1` }))))
    for (const name of names) expect(JSON.parse((await connection.reply()).body)).to.include({ id: name })
  })

  it('gets the replies to valid and invalid pipelined requests in order', async () => {
    connection.write(
      Buffer.concat([fixture.call(), fixture.call({ body: '[]' }), fixture.call({ without: ['authorization'] }), fixture.call()]),
    )
    const replies = [await connection.reply(), await connection.reply(), await connection.reply(), await connection.reply()]
    expect(replies.map(({ status }) => status)).to.deep.equal([200, 400, 401, 200])
  })

  it('gets a 400 for stray bytes after a reply, and is closed', async () => {
    connection.write(LIVEZ)
    expect(await connection.reply()).to.include(OK)
    connection.write(NOISE)
    expectError(await connection.reply(), MALFORMED)
    await connection.closed
  })

  it('gets a 400 for stray bytes behind a waiting call, under the id of that call', async () => {
    const received = fixture.upstream.reply([hold()])
    connection.write(fixture.call({ lines: ['X-Client-Request-Id: waiting'] }))
    const { closed } = await received
    connection.write(NOISE)
    const reply = await connection.reply()
    expectError(reply, MALFORMED)
    const line = await fixture.gateway.logged(({ clientRequestId }) => clientRequestId === 'waiting')
    expect(line).to.include({ id: reply.headers['x-request-id'], outcome: 'client_closed' })
    await Promise.all([closed, connection.closed])
  })

  it('is closed for stray bytes during a stream, without an error in the stream', async () => {
    const { closed } = await startStream()
    const before = connection.rest
    connection.write(NOISE)
    await Promise.all([connection.closed, closed])
    expect(connection.rest).to.equal(before)
  })

  it('is closed for stray bytes behind a call that waits for a stream, without an error in the stream', async () => {
    const { closed } = await startStream()
    const before = connection.rest
    const calls = fixture.upstream.requests.length
    connection.write(fixture.call())
    connection.write(NOISE)
    await Promise.all([connection.closed, closed])
    expect(connection.rest).to.equal(before)
    expect(fixture.upstream.requests).to.have.length(calls)
  })

  it('can be reset while it is refused', async () => {
    for (const bytes of ['CONNECT elsewhere:443 HTTP/1.1\r\nHost: elsewhere\r\n\r\n', NOISE, LIVEZ, 'GET /livez HT']) {
      for (let times = 0; times < 25; times++) {
        const fleeting = await fixture.connect()
        fleeting.write(bytes)
        fleeting.socket.resetAndDestroy()
      }
    }
    connection.write(LIVEZ)
    expect(await connection.reply()).to.include(OK)
  })

  it('gets 100 Continue only after key, content type and length are checked', async () => {
    const call = fixture.call({ lines: ['Expect: 100-continue'] })
    connection.write(call.subarray(0, call.indexOf('{')))
    expect(await connection.reply()).to.deep.equal({ status: 100, headers: {}, body: '' })
    connection.write(GOOD_BODY)
    expect(await connection.reply()).to.include({ status: 200, body: JSON.stringify(COMPLETION) })
  })

  for (const [name, changes, refusal] of [
    ['a key', { without: ['authorization'] }, { status: 401, code: null }],
    ['a good key', { lines: ['Authorization: Bearer sk-live-nobody'] }, { status: 401, code: 'invalid_api_key' }],
    ['a type', { without: ['content-type'] }, { status: 415, code: 'unsupported_media_type' }],
    ['a length within the limit', { lines: [`Content-Length: ${LIMIT + 1}`] }, TOO_LARGE],
  ] as const) {
    it(`gets no 100 Continue without ${name}, and is closed`, async () => {
      const call = fixture.call({ ...changes, lines: ['Expect: 100-continue', ...('lines' in changes ? changes.lines : [])] })
      connection.write(call.subarray(0, call.indexOf('\r\n\r\n') + 4))
      expectError(await connection.reply(), { ...refusal, headers: { connection: 'close' } })
      await connection.closed
      expect(connection.rest).to.equal('')
    })
  }

  it('gets a 413 before it has sent a body that is too large, and stays open if it sends it', async () => {
    connection.write(fixture.call({ lines: [`Content-Length: ${LIMIT + 1}`], body: '' }))
    const message = expectError(await connection.reply(), TOO_LARGE)
    expect(message).to.include(`${LIMIT} bytes`)
    connection.write(Buffer.alloc(LIMIT + 1, ' '))
    connection.write(LIVEZ)
    expect(await connection.reply()).to.include(OK)
  })

  it('gets a 413 at the first byte over the limit of a chunked body', async () => {
    connection.write(fixture.call({ lines: ['Transfer-Encoding: chunked'], body: '', framing: 'none' }))
    connection.write(`${LIMIT.toString(16)}\r\n`)
    connection.write(Buffer.alloc(LIMIT, ' '))
    connection.write('\r\n1\r\n \r\n')
    expectError(await connection.reply(), TOO_LARGE)
    connection.write(`0\r\n\r\n${LIVEZ}`)
    expect(await connection.reply()).to.include(OK)
  })

  it('serves the next request after a body that was not read', async () => {
    connection.write(fixture.call({ requestLine: 'GET /v1/models HTTP/1.1' }))
    expect(await connection.reply()).to.include({ status: 200 })
    connection.write(fixture.call({ without: ['authorization'] }))
    expectError(await connection.reply(), { status: 401, code: null })
    connection.write(fixture.call())
    expect(await connection.reply()).to.include({ status: 200, body: JSON.stringify(COMPLETION) })
  })

  it('ignores trailers after the body', async () => {
    const changes = { lines: ['Transfer-Encoding: chunked', 'Trailer: Authorization'], framing: 'none' } as const
    const chunk = `${GOOD_BODY.length.toString(16)}\r\n${GOOD_BODY}\r\n`
    const trailers = `0\r\nAuthorization: Bearer ${fixture.gateway.liveKey}\r\nX-Api-Key: x\r\n\r\n`
    connection.write(fixture.call({ ...changes, body: chunk + trailers, without: ['authorization'] }))
    expectError(await connection.reply(), { status: 401, code: null })
    connection.write(fixture.call({ ...changes, body: chunk + trailers }))
    expect(await connection.reply()).to.include({ status: 200, body: JSON.stringify(COMPLETION) })
  })
})
