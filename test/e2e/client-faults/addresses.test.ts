import { expect } from 'chai'
import { expectRefusal } from './expect-refusal.ts'
import { expectError, type Fixture, startFixture } from './fixture.ts'

/** Addresses that some server or proxy takes for one of ours. */
const ELSEWHERE = [
  '/v1//models',
  '//v1/models',
  '/v1/./models',
  '/v1/../v1/models',
  '/v1/%2e%2e/v1/models',
  '/v1%2Fmodels',
  '/v1/%6dodels',
  '/v1/models;x',
  '/v1/models;x=/v1/models',
  '/v1\\models',
  '/v1/models#',
  '/v1/models#/livez',
  '/v1\\models#',
  '/V1/models',
  '/v1/Models',
  '/v1/models%00',
  '/v1/models%20',
  '/v1/models%3F',
  '//gateway/v1/models',
  'http://gateway/v1/models',
  'HTTP://gateway/v1/models',
  'http://elsewhere/v1/models',
  '*',
  '/metrics#',
  '/metrics/',
  '/livez;x',
  '/admin/keys',
  '/index.html',
]

const CHAT_ELSEWHERE = ['/v1/chat/completions#', '/v1/chat/completions//', '/v1/chat\\completions#x', '/v1/chat%2Fcompletions']

describe('A request path', () => {
  let fixture: Fixture

  before(async () => {
    fixture = await startFixture()
  })

  after(() => fixture?.stop())

  for (const [method, paths] of [
    ['GET', ELSEWHERE],
    ['POST', CHAT_ELSEWHERE],
  ] as const) {
    for (const path of paths) {
      it(`${method} ${path} is a 404`, async () => {
        const message = await expectRefusal(fixture, {
          name: path,
          bytes: ({ call }) => call({ requestLine: `${method} ${path} HTTP/1.1` }),
          status: 404,
          code: null,
          closes: false,
        })
        expect(message).to.equal(`Invalid URL (${method} ${path})`)
      })
    }
  }

  for (const path of ['/v1/models/..', '/v1/models/../chat/completions', '/v1/models/%2e%2e%2flivez', '/v1/models/up%252Fx']) {
    it(`${path} is an unknown model, not another route`, async () => {
      const connection = await fixture.connect()
      connection.write(fixture.call({ requestLine: `GET ${path} HTTP/1.1` }))
      expectError(await connection.reply(), { status: 404, code: 'model_not_found', param: 'model' })
      connection.socket.destroy()
    })
  }

  for (const [method, path, allow] of [
    ['TRACE', '/v1/chat/completions', 'POST'],
    ['OPTIONS', '/v1/chat/completions', 'POST'],
    ['PROPFIND', '/v1/models', 'HEAD, GET'],
    ['PUT', '/v1/models/up/x', 'HEAD, GET'],
    ['POST', '/metrics', 'HEAD, GET'],
    ['DELETE', '/readyz', 'HEAD, GET'],
  ] as const) {
    it(`${path} answers ${method} with a 405 that lists the allowed methods`, async () => {
      await expectRefusal(fixture, {
        name: method,
        bytes: ({ call }) => call({ requestLine: `${method} ${path} HTTP/1.1` }),
        status: 405,
        code: null,
        headers: { allow },
        closes: false,
      })
    })
  }

  it('of CONNECT is refused', async () => {
    const message = await expectRefusal(fixture, {
      name: 'CONNECT',
      bytes: () => 'CONNECT elsewhere:443 HTTP/1.1\r\nHost: elsewhere:443\r\n\r\n',
      status: 405,
      code: null,
      headers: { allow: 'GET, POST' },
      closes: true,
    })
    expect(message).to.include('CONNECT on elsewhere:443')
  })

  it('is closed to browser pages: preflights are refused, and no reply allows an origin', async () => {
    const connection = await fixture.connect()
    const lines = [
      'Origin: https://page.example',
      'Access-Control-Request-Method: POST',
      'Access-Control-Request-Headers: authorization',
    ]
    for (const requestLine of ['OPTIONS /v1/chat/completions HTTP/1.1', 'POST /v1/chat/completions HTTP/1.1']) {
      connection.write(fixture.call({ requestLine, lines }))
      const { headers } = await connection.reply()
      expect(Object.keys(headers).filter((name) => name.startsWith('access-control-'))).to.deep.equal([])
    }
    connection.socket.destroy()
  })
})
