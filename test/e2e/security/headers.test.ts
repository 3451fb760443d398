import { expect } from 'chai'
import { json, sse } from '../../../core/testing/kit.ts'
import { type CallBytes, CHUNKS, COMPLETION, type Fixture, GOOD_BODY, startFixture } from '../client-faults/fixture.ts'

/** All that an upstream of this table is told. It has no key of its own. */
const TOLD = ['accept', 'accept-encoding', 'connection', 'content-length', 'content-type', 'host', 'user-agent', 'x-request-id']

/** What clients, SDKs and proxies say. */
const SAID = [
  'Cookie: session=canary',
  'X-Stainless-Lang: canary',
  'X-Stainless-Retry-Count: 1',
  'OpenAI-Organization: canary',
  'OpenAI-Project: canary',
  'CF-Connecting-IP: canary',
  'CF-Ray: canary',
  'X-Forwarded-For: canary',
  'X-Forwarded-Host: canary',
  'Forwarded: for=canary',
  'X-Real-IP: canary',
  'Via: 1.1 canary',
  'Proxy-Authorization: Basic canary',
  'TE: trailers, canary',
  'Keep-Alive: canary',
  'Upgrade: canary',
  'X-Request-Id: canary',
  'Traceparent: canary',
  'User-Agent: canary',
  'Accept: text/canary',
  'Accept-Encoding: canary',
  'X-Anything: canary',
]

/** Other spellings of names that some servers take for the same. */
const ALIASES = ['X_Forwarded_For: canary', 'Content_Length: 1', 'Content_Type: canary', 'HTTP_HOST: canary', '__proto__: canary']

/** All that an upstream may say of itself. */
const CONFESSED = {
  'set-cookie': ['canary=1', 'canary=2'],
  server: 'canary',
  'openai-organization': 'canary',
  'openai-processing-ms': '1234567',
  'openai-version': 'canary',
  'x-request-id': 'req_canary',
  'request-id': 'canary',
  'cf-ray': 'canary',
  'alt-svc': 'canary=":443"',
  via: '1.1 canary',
  'x-powered-by': 'canary',
  'access-control-allow-origin': 'https://canary.example',
  'strict-transport-security': 'max-age=1234567',
  'x-ratelimit-remaining-tokens': '1234567',
  'cache-control': 'public, max-age=1234567',
  etag: '"canary"',
  link: '<https://canary.example>',
  'x-umg-namespace': 'canary',
  'x-should-retry': 'canary',
  trailer: 'x-canary',
}

/** All that a client is told, beside what its kind of reply needs. */
const HEARD = ['cache-control', 'connection', 'content-type', 'date', 'keep-alive', 'x-content-type-options', 'x-request-id']
const WHOLE = [...HEARD, 'content-length']
const STREAMED = [...HEARD, 'transfer-encoding', 'x-accel-buffering']

/** Requests for each kind of reply that the gateway makes: relayed, its own, and errors of each layer. */
const OF_EACH_KIND: Readonly<Record<string, CallBytes>> = {
  'a reply': {},
  'a stream': { body: GOOD_BODY.replace('{', '{"stream":true,') },
  'a list of models': { requestLine: 'GET /v1/models HTTP/1.1', without: ['content-type'], framing: 'none', body: '' },
  'a refused key': { lines: ['Authorization: Bearer sk-live-nobody'] },
  'an unknown path': { requestLine: 'POST /v1/nowhere HTTP/1.1' },
  'an HTTP version of its own': { requestLine: 'POST /v1/chat/completions HTTP/7.7' },
  'the health check': { requestLine: 'GET /livez HTTP/1.1', without: ['content-type'], framing: 'none', body: '' },
}

const STREAM = sse([...CHUNKS, 'data: [DONE]\n\n'], { headers: CONFESSED })

describe('Headers', () => {
  let fixture: Fixture

  before(async () => {
    fixture = await startFixture()
  })

  after(() => fixture?.stop())

  async function ask(lines: readonly string[], body = GOOD_BODY) {
    const connection = await fixture.connect()
    connection.write(fixture.call({ lines, body }))
    const reply = await connection.reply()
    connection.socket.destroy()
    return reply
  }

  for (const [name, lines] of [
    ['of clients, SDKs and proxies', SAID],
    ['under other spellings', ALIASES],
    ['that the client says belong to its connection', ['Connection: close, X-Hop, Cookie', 'X-Hop: canary', 'Cookie: canary']],
  ] as const) {
    it(`${name} do not reach the upstream`, async () => {
      const { status } = await ask(lines)
      expect(status).to.equal(200)
      const { headers, rawHeaders } = fixture.upstream.requests.at(-1)!
      expect(headers).to.have.all.keys(...TOLD)
      expect(JSON.stringify(rawHeaders)).to.not.match(new RegExp(`canary|trailers|${fixture.gateway.liveKey}`))
    })
  }

  for (const name of [
    'Authorization',
    'Content-Type',
    'Content-Length',
    'Host',
    'X-Request-Id',
    'X-Forwarded-For',
    'Connection',
  ]) {
    it(`are kept if the client lists ${name} in its Connection header`, async () => {
      const { status, headers } = await ask([`Connection: ${name}`])
      expect([status, headers['content-type']]).to.deep.equal([200, 'application/json'])
      expect(fixture.upstream.requests.at(-1)!.headers).to.have.all.keys(...TOLD)
      expect((await ask([`Connection: ${name}`, 'Authorization: Bearer sk-live-nobody'])).status).to.equal(401)
    })
  }

  for (const [name, body, script, heard] of [
    ['a reply', GOOD_BODY, json(COMPLETION, { headers: CONFESSED }), WHOLE],
    ['a stream', GOOD_BODY.replace('{', '{"stream":true,'), STREAM, STREAMED],
    ['a refusal', GOOD_BODY, json({ error: { message: 'No.' } }, { status: 400, headers: CONFESSED }), WHOLE],
    ['a refused credential', GOOD_BODY, json({}, { status: 401, headers: CONFESSED }), [...WHOLE, 'x-should-retry']],
    ['a limit', GOOD_BODY, json({}, { status: 429, headers: { ...CONFESSED, 'retry-after': '7' } }), [...WHOLE, 'retry-after']],
    ['an error', GOOD_BODY, json({}, { status: 500, headers: CONFESSED }), WHOLE],
  ] as const) {
    it(`of ${name} reach the client only if the gateway sets them`, async () => {
      const received = fixture.upstream.reply(script)
      const { headers } = await ask([], body)
      await received
      expect(headers).to.have.all.keys(...heard)
      expect(JSON.stringify(headers)).to.not.match(/canary|1234567/)
    })
  }

  for (const [name, request] of Object.entries(OF_EACH_KIND)) {
    it(`of ${name} forbid that it is kept by a cache, or taken by a browser for a page`, async () => {
      fixture.upstream.on(({ headers }) =>
        headers.accept === 'text/event-stream' ? STREAM : json(COMPLETION, { headers: CONFESSED }),
      )
      const connection = await fixture.connect()
      connection.write(fixture.call(request))
      const { headers } = await connection.reply()
      connection.socket.destroy()
      expect(headers['x-content-type-options']).to.equal('nosniff')
      expect(headers['cache-control']).to.be.oneOf(['no-store', 'no-store, no-transform'])
    })
  }
})
