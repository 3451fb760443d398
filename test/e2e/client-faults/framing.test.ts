import { expect } from 'chai'
import { expectRefusal, type Fault } from './expect-refusal.ts'
import { type CallBytes, CHUNKS, COMPLETION, expectError, type Fixture, GOOD_BODY, startFixture } from './fixture.ts'

const CHUNKED = 'Transfer-Encoding: chunked'
const chunks = (...lines: string[]): string => [...lines, '', ''].join('\r\n')

/** A good call but for one thing, refused by the HTTP parser or before anything else is looked at; the connection is closed. */
const malformed = (name: string, changes: CallBytes, more: Partial<Fault> = {}): Fault => ({
  name,
  bytes: (fixture) => fixture.call(changes),
  status: 400,
  code: 'malformed_http',
  closes: true,
  ...more,
})

/** The bytes of a good call with one text in its head replaced. */
const replaced = (name: string, from: RegExp, to: string, more: Partial<Fault> = {}): Fault =>
  malformed(name, {}, { bytes: (fixture) => Buffer.from(fixture.call().toString('latin1').replace(from, to), 'latin1'), ...more })

const VERSION = { status: 505, code: 'malformed_http' }
const TOO_MANY = { status: 431, code: 'headers_too_large' }

const FAULTS: readonly Fault[] = [
  // Where a body ends, two servers must agree on.
  malformed('a length and chunks', { lines: [CHUNKED], body: chunks('0', '') }),
  malformed('chunks and then a length', { lines: [CHUNKED, 'Content-Length: 5'], body: chunks('0', ''), framing: 'none' }),
  malformed('two lengths', { lines: ['Content-Length: 5', 'Content-Length: 6'] }),
  malformed('the same length twice', { lines: ['Content-Length: 5', 'Content-Length: 5'] }),
  malformed('a list of lengths', { lines: ['Content-Length: 5, 5'] }),
  malformed('a length with a sign', { lines: ['Content-Length: +5'] }),
  malformed('a negative length', { lines: ['Content-Length: -1'] }),
  malformed('a hexadecimal length', { lines: ['Content-Length: 0x5'] }),
  malformed('a chunk of no size', { lines: [CHUNKED], body: chunks('zz'), framing: 'none' }),
  malformed('a bad chunk after a good one', { lines: [CHUNKED], body: chunks('5', '{"mod', 'zz'), framing: 'none' }),
  malformed('a chunk longer than it says', { lines: [CHUNKED], body: chunks('2', '{"mod'), framing: 'none' }),
  malformed('a chunk of more bytes than numbers hold', { lines: [CHUNKED], body: chunks('f'.repeat(17)), framing: 'none' }),
  malformed('a flood of chunk extensions', { lines: [CHUNKED], body: chunks(`1;${'a'.repeat(20_000)}`), framing: 'none' }),
  malformed('compressed chunks', { lines: ['Transfer-Encoding: gzip, chunked'], body: chunks('0', ''), framing: 'none' }),
  malformed('compression for framing', { lines: ['Transfer-Encoding: gzip'], body: chunks('0', ''), framing: 'none' }),
  malformed('chunks of chunks', { lines: ['Transfer-Encoding: chunked, chunked'], body: chunks('0', ''), framing: 'none' }),
  malformed('chunks said twice', { lines: [CHUNKED, CHUNKED], body: chunks('0', ''), framing: 'none' }),
  malformed('a framing of no name', { lines: ['Transfer-Encoding: xchunked'], framing: 'none' }),
  malformed('chunks under HTTP/1.0', {
    requestLine: 'POST /v1/chat/completions HTTP/1.0',
    lines: [CHUNKED],
    body: chunks('0', ''),
    framing: 'none',
  }),

  // Where a header ends, too.
  replaced('bare line feeds', /\r\n/g, '\n'),
  malformed('a folded header', { lines: ['X-A: 1\r\n 2'] }),
  malformed('a space before the colon', { lines: ['X-A : 1'] }),
  malformed('a NUL in a header', { lines: ['X-A: 1\0'] }),
  malformed('a carriage return in a header', { lines: ['X-A: 1\rX-B: 2'] }),
  malformed('a header without a name', { lines: [': 1'] }),
  malformed('a line without a colon', { lines: ['X-A'] }),
  replaced('a space before the first header', /\r\nHost/, '\r\n Host'),

  // What language it speaks.
  malformed('a method in lower case', { requestLine: 'post /v1/chat/completions HTTP/1.1' }),
  malformed('a method of no name', { requestLine: 'BREW /v1/chat/completions HTTP/1.1' }),
  malformed('HTTP/1.2', { requestLine: 'POST /v1/chat/completions HTTP/1.2' }),
  malformed('HTTP/2.0 on a plain connection', { requestLine: 'POST /v1/chat/completions HTTP/2.0' }, VERSION),
  malformed("HTTP/2's opening", {}, { bytes: () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n' }),
  malformed('HTTP/0.9', {}, { bytes: () => 'GET /v1/models\r\n\r\n', ...VERSION }),
  malformed('TLS on a plain port', {}, { bytes: () => Buffer.from('1603010200010001fc0303', 'hex') }),
  ...['v1/models', '\\v1\\models', '?/v1/models', '/v1/models\xa0', '/v1/models\t', ''].map((path) =>
    malformed(`an address of '${path}'`, { requestLine: `POST ${path} HTTP/1.1` }),
  ),
  malformed('noise', {}, { bytes: () => '\0\xff\0\xfe\r\n\r\n' }),

  // Whom it means to speak to.
  malformed('no Host', { without: ['host'] }),
  malformed('two Hosts', { lines: ['Host: gateway', 'Host: gateway'] }),
  malformed('two Hosts in different case', { lines: ['Host: gateway', 'HOST: elsewhere'] }),
  ...['a/v1/models?', 'a?b', 'a#b', 'a@b', 'a b', 'a,b', 'http://a', 'a:b', 'a:80:80', '[::1', '[a/b]', 'a\\b', 'ä'].map((host) =>
    malformed(`a Host of '${host}'`, { lines: [`Host: ${host}`] }),
  ),

  // How much it has to say.
  malformed('a header of 17 KB', { lines: [`X-A: ${'a'.repeat(17_000)}`] }, TOO_MANY),
  malformed('an address of 17 KB', { requestLine: `POST /${'a'.repeat(17_000)} HTTP/1.1` }, TOO_MANY),
  malformed('2,500 headers', { lines: Array(2500).fill('a:b') }, TOO_MANY),
  malformed('2,500 headers before the key', { lines: [...Array(2500).fill('a:b'), 'Authorization: Bearer x'] }, TOO_MANY),
  malformed('101 headers', { lines: Array(97).fill('a:b') }, TOO_MANY),
  malformed('an expectation of no name', { lines: ['Expect: a-miracle'] }, { status: 417, code: null }),
  malformed('an expectation beside 100-continue', { lines: ['Expect: 100-continue, a-miracle'] }, { status: 417, code: null }),
]

describe('The head and framing of a request', () => {
  let fixture: Fixture

  before(async () => {
    fixture = await startFixture()
  })

  after(() => fixture?.stop())

  for (const fault of FAULTS) {
    it(`are refused for ${fault.name}, and the connection is closed`, async () => {
      await expectRefusal(fixture, fault)
    })
  }

  for (const [name, changes] of [
    ['HTTP/1.0', { requestLine: 'POST /v1/chat/completions HTTP/1.0' }],
    ['HTTP/1.0 without a Host', { requestLine: 'POST /v1/chat/completions HTTP/1.0', without: ['host'] }],
    ['an empty Host', { lines: ['Host:'] }],
    ['a Host that is an IPv6 address', { lines: ['Host: [::1]:8080'] }],
    ['100 headers', { lines: Array(96).fill('a:b') }],
    ['chunks in capitals', { lines: ['Transfer-Encoding: CHUNKED'], body: chunks('45', GOOD_BODY, '0', ''), framing: 'none' }],
    ['chunks with an extension', { lines: [CHUNKED], body: chunks('45;a=b', GOOD_BODY, '0', ''), framing: 'none' }],
    ['an offer to upgrade, which is ignored', { lines: ['Connection: upgrade', 'Upgrade: websocket'] }],
    ['an offer of HTTP/2, which is ignored', { lines: ['Connection: upgrade', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABk'] }],
    ['headers named like what objects inherit', { lines: ['__proto__: x', 'constructor: x', 'toString: x'] }],
  ] as const satisfies readonly (readonly [string, CallBytes])[]) {
    it(`are accepted with ${name}`, async () => {
      const connection = await fixture.connect()
      connection.write(fixture.call(changes))
      expect(await connection.reply()).to.include({ status: 200, body: JSON.stringify(COMPLETION) })
      connection.socket.destroy()
    })
  }

  it('are refused for an invalid chunk of a running call, which ends as client_closed', async () => {
    const connection = await fixture.connect()
    connection.write(fixture.call({ lines: [CHUNKED, 'Expect: 100-continue'], body: '', framing: 'none' }))
    expect(await connection.reply()).to.include({ status: 100 })
    connection.write(chunks('5', '{"mod', 'zz'))
    const reply = await connection.reply()
    expectError(reply, { status: 400, code: 'malformed_http' })
    await connection.closed
    const line = await fixture.gateway.logged(({ id }) => id === reply.headers['x-request-id'])
    expect(line).to.include({ status: 499, outcome: 'client_closed' })
  })

  describe('of a stream', () => {
    const STREAMED = GOOD_BODY.replace('{', '{"stream":true,')
    const EVENTS = [...CHUNKS, '[DONE]'].map((data) => `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`)

    it('end it, so that the connection serves the next call', async () => {
      const connection = await fixture.connect()
      for (let call = 0; call < 2; call++) {
        connection.write(fixture.call({ body: STREAMED }))
        const reply = await connection.reply()
        expect(reply.headers).to.include({ 'transfer-encoding': 'chunked' })
        expect(reply.body).to.equal(EVENTS.join(''))
        expect(connection.rest).to.equal('')
      }
      connection.socket.destroy()
    })

    it('have no chunks under HTTP/1.0: the connection ends it', async () => {
      const connection = await fixture.connect()
      connection.write(fixture.call({ body: STREAMED, requestLine: 'POST /v1/chat/completions HTTP/1.0' }))
      expect(await connection.closed).to.equal('fin')
      const [head = '', ...body] = connection.rest.split('\r\n\r\n')
      expect(head.toLowerCase()).to.not.include('transfer-encoding')
      expect(body.join('')).to.equal(EVENTS.join(''))
    })
  })
})
