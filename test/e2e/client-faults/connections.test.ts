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

describe('a connection', () => {
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

  it('gets a hundred replies to a hundred requests sent at once, in their order', async () => {
    const names = Array.from({ length: 100 }, (_, index) => `up/model-${index}`)
    connection.write(Buffer.concat(names.map((name) => fixture.call({ requestLine: `GET /v1/models/${name} HTTP/1.1` }))))
    for (const name of names) expect(JSON.parse((await connection.reply()).body)).to.include({ id: name })
  })

  it('gets the replies to good and bad requests sent at once in their order', async () => {
    connection.write(
      Buffer.concat([fixture.call(), fixture.call({ body: '[]' }), fixture.call({ without: ['authorization'] }), fixture.call()]),
    )
    const replies = [await connection.reply(), await connection.reply(), await connection.reply(), await connection.reply()]
    expect(replies.map(({ status }) => status)).to.deep.equal([200, 400, 401, 200])
  })

  it('is told of noise after a reply, and closed', async () => {
    connection.write(LIVEZ)
    expect(await connection.reply()).to.include(OK)
    connection.write(NOISE)
    expectError(await connection.reply(), MALFORMED)
    await connection.closed
  })

  it('is told of noise behind a call that waits in the place of its reply, under its id', async () => {
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

  it('is closed for noise in the middle of a stream, with no word in the middle of it', async () => {
    const { closed } = await startStream()
    const before = connection.rest
    connection.write(NOISE)
    await Promise.all([connection.closed, closed])
    expect(connection.rest).to.equal(before)
  })

  it('is closed for noise behind a call that waits behind a stream, with no word in the middle of that', async () => {
    const { closed } = await startStream()
    const before = connection.rest
    const waiting = fixture.upstream.reply([hold()])
    connection.write(fixture.call())
    await waiting
    connection.write(NOISE)
    await Promise.all([connection.closed, closed])
    expect(connection.rest).to.equal(before)
  })

  it('that is reset while it is refused does no harm', async () => {
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

  it('is asked for the body only once key, type and length are good', async () => {
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
    it(`is not asked for the body without ${name}, and is closed`, async () => {
      const call = fixture.call({ ...changes, lines: ['Expect: 100-continue', ...('lines' in changes ? changes.lines : [])] })
      connection.write(call.subarray(0, call.indexOf('\r\n\r\n') + 4))
      expectError(await connection.reply(), { ...refusal, headers: { connection: 'close' } })
      await connection.closed
      expect(connection.rest).to.equal('')
    })
  }

  it('hears that its body is too large before it has sent it, may send it all the same, and goes on', async () => {
    connection.write(fixture.call({ lines: [`Content-Length: ${LIMIT + 1}`], body: '' }))
    const message = expectError(await connection.reply(), TOO_LARGE)
    expect(message).to.include(`${LIMIT} bytes`)
    connection.write(Buffer.alloc(LIMIT + 1, ' '))
    connection.write(LIVEZ)
    expect(await connection.reply()).to.include(OK)
  })

  it('hears at the first byte of chunks past the limit that its body is too large', async () => {
    connection.write(fixture.call({ lines: ['Transfer-Encoding: chunked'], body: '', framing: 'none' }))
    connection.write(`${LIMIT.toString(16)}\r\n`)
    connection.write(Buffer.alloc(LIMIT, ' '))
    connection.write('\r\n1\r\n \r\n')
    expectError(await connection.reply(), TOO_LARGE)
    connection.write(`0\r\n\r\n${LIVEZ}`)
    expect(await connection.reply()).to.include(OK)
  })

  it('goes on behind a body that nobody wanted', async () => {
    connection.write(fixture.call({ requestLine: 'GET /v1/models HTTP/1.1' }))
    expect(await connection.reply()).to.include({ status: 200 })
    connection.write(fixture.call({ without: ['authorization'] }))
    expectError(await connection.reply(), { status: 401, code: null })
    connection.write(fixture.call())
    expect(await connection.reply()).to.include({ status: 200, body: JSON.stringify(COMPLETION) })
  })

  it('has no headers but those before the body', async () => {
    const changes = { lines: ['Transfer-Encoding: chunked', 'Trailer: Authorization'], framing: 'none' } as const
    const chunk = `${GOOD_BODY.length.toString(16)}\r\n${GOOD_BODY}\r\n`
    const trailers = `0\r\nAuthorization: Bearer ${fixture.gateway.liveKey}\r\nX-Api-Key: x\r\n\r\n`
    connection.write(fixture.call({ ...changes, body: chunk + trailers, without: ['authorization'] }))
    expectError(await connection.reply(), { status: 401, code: null })
    connection.write(fixture.call({ ...changes, body: chunk + trailers }))
    expect(await connection.reply()).to.include({ status: 200, body: JSON.stringify(COMPLETION) })
  })
})
