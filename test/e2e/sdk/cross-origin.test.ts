import { expect } from 'chai'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { rawHttp } from '../../support/raw-http.ts'

const PAGE = 'https://chat.example.com'
const ROUTES = { chain: [{ plugin: 'auth' }], namespaces: { box: { provider: 'sandbox', testKeys: 'upstream' } } }
const ASKED = JSON.stringify({ model: 'box/m', messages: [{ role: 'user', content: 'Hi' }] })

/** The headers of a reply that concern other origins. */
const consentOf = (headers: Readonly<Record<string, unknown>>): string[] =>
  Object.keys(headers).filter((name) => name.startsWith('access-control-'))

const preflight = (origin: string) => ({
  method: 'OPTIONS',
  headers: {
    origin,
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'authorization,content-type,x-stainless-lang',
  },
})

describe('a web page of another origin', () => {
  let gateway: TestGateway
  let closed: TestGateway

  before(async () => {
    gateway = await startTestGateway({ routes: ROUTES, corsOrigins: [PAGE, 'http://localhost:3000'] })
    closed = await startTestGateway({ routes: ROUTES })
  })

  after(async () => {
    await gateway?.stop()
    await closed?.stop()
  })

  const headers = (origin: string, key = gateway.testKey) => ({
    origin,
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
  })

  it('may call /v1 if its origin is listed, and send what an SDK sends', async () => {
    const { status, headers: got } = await rawHttp(`${gateway.url}/v1/chat/completions`, preflight(PAGE))
    expect(status).to.equal(204)
    expect(got).to.include({
      'access-control-allow-origin': PAGE,
      'access-control-allow-methods': 'GET, POST',
      'access-control-allow-headers': 'authorization,content-type,x-stainless-lang',
      vary: 'Origin, Access-Control-Request-Headers',
    })
    expect(got).not.to.have.property('access-control-allow-credentials')
  })

  it('may read a reply with its headers, a stream, and an error', async () => {
    const url = `${gateway.url}/v1/chat/completions`
    const bodies = [ASKED, ASKED.replace('{', '{"stream":true,'), '{}']
    for (const [index, body] of bodies.entries()) {
      const reply = await rawHttp(url, { method: 'POST', headers: headers(PAGE), body })
      await reply.text()
      expect(reply.status).to.equal(index === 2 ? 400 : 200)
      expect(reply.headers).to.include({ 'access-control-allow-origin': PAGE, vary: 'Origin' })
      expect(reply.headers['access-control-expose-headers']).to.include('x-request-id').and.include('retry-after')
    }
  })

  it('may read that its key is missing', async () => {
    const reply = await rawHttp(`${gateway.url}/v1/models`, { headers: { origin: PAGE } })
    expect([reply.status, reply.headers['access-control-allow-origin']]).to.deep.equal([401, PAGE])
  })

  for (const origin of [
    'https://evil.example',
    'null',
    `${PAGE}.evil.example`,
    'http://chat.example.com',
    'https://CHAT.example.com',
  ]) {
    it(`gets no consent as ${origin}`, async () => {
      const asked = await rawHttp(`${gateway.url}/v1/chat/completions`, preflight(origin))
      expect([asked.status, consentOf(asked.headers)]).to.deep.equal([405, []])
      const reply = await rawHttp(`${gateway.url}/v1/models`, { headers: headers(origin) })
      expect([reply.status, consentOf(reply.headers), reply.headers.vary]).to.deep.equal([200, [], 'Origin'])
    })
  }

  it('gets no consent outside /v1, where the console keeps its session', async () => {
    for (const path of ['/api/v1/keys', '/metrics', '/livez', '/v1x', '/']) {
      const asked = await rawHttp(gateway.url + path, preflight(PAGE))
      expect(consentOf(asked.headers), path).to.deep.equal([])
      expect(consentOf((await rawHttp(gateway.url + path, { headers: { origin: PAGE } })).headers), path).to.deep.equal([])
    }
  })

  it('gets no consent from a gateway without the option', async () => {
    const asked = await rawHttp(`${closed.url}/v1/chat/completions`, preflight(PAGE))
    expect([asked.status, consentOf(asked.headers)]).to.deep.equal([405, []])
    const reply = await rawHttp(`${closed.url}/v1/models`, { headers: headers(PAGE, closed.testKey) })
    expect([reply.status, consentOf(reply.headers), reply.headers.vary]).to.deep.equal([200, [], undefined])
  })
})
