import { createServer } from 'node:http'
import { expect } from 'chai'
import Koa from 'koa'
import { healthRouter } from '../../../core/control/monitoring.ts'
import { listen } from '../../../core/http/listen.ts'
import { expectError } from '../../e2e/client-faults/fixture.ts'
import { startTestGateway, type TestGateway, type TestGatewayOptions } from '../../support/gateway.ts'
import { rawConnection, type WireReply } from '../../support/raw-connection.ts'

const TOKEN = 'the-token-of-the-operator'
const ROUTES = { chain: [{ plugin: 'auth' }], namespaces: { sandbox: { provider: 'sandbox' } } }
const ENDPOINTS = ['/livez', '/readyz', '/metrics']

describe('the monitoring endpoints', () => {
  let gateway: TestGateway

  const start = async (options: Partial<TestGatewayOptions> = {}): Promise<void> => {
    gateway = await startTestGateway({ routes: ROUTES, ...options })
  }

  afterEach(() => gateway?.stop())

  const get = (path: string, authorization?: string, url = gateway.url): Promise<Response> =>
    fetch(url + path, { headers: authorization === undefined ? {} : { authorization } })

  async function expectNowhere(url: string, path: string): Promise<void> {
    for (const authorization of [undefined, `Bearer ${TOKEN}`, `Bearer ${gateway.liveKey}`]) {
      const reply = await get(path, authorization, url)
      expect(reply.status).to.equal(404)
      expect(reply.headers.get('x-request-id')).to.match(/^req_/)
      const message = `Invalid URL (GET ${path})`
      expect(await reply.json()).to.deep.equal({ error: { message, type: 'invalid_request_error', param: null, code: null } })
    }
  }

  it('report liveness, readiness and metrics to anyone', async () => {
    await start()
    expect(await (await get('/livez')).text()).to.equal('ok\n')
    expect(await (await get('/readyz')).text()).to.equal('ready\n')
    const metrics = await get('/metrics')
    expect(metrics.headers.get('content-type')).to.include('text/plain; version=0.0.4')
    expect(await metrics.text()).to.include('umg_build_info{')
  })

  it('have a request id, and are neither counted nor logged as calls', async () => {
    await start()
    for (const path of ENDPOINTS) expect((await get(path)).headers.get('x-request-id')).to.match(/^req_[0-9a-f]{32}$/)
    expect(await gateway.metric('umg_requests_total')).to.equal(0)
    expect(gateway.log.filter(({ msg }) => msg === 'call')).to.deep.equal([])
  })

  it('are not served without a token to a page of another site, by a name that it gave this machine', async () => {
    await start({ management: { urls: { people: 'https://console.example' } } })
    const ask = async (path: string, host: string): Promise<WireReply> => {
      const connection = await rawConnection(gateway.url)
      connection.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
      return connection.reply()
    }
    for (const path of ['/metrics', '/readyz?verbose']) {
      expectError(await ask(path, 'evil.example:8080'), { status: 403, code: 'foreign_host' })
      for (const own of ['localhost:8080', 'gateway.localhost', '127.0.0.1', '[::1]:80', 'console.example'])
        expect((await ask(path, own)).status, own).to.equal(200)
    }
    for (const path of ['/livez', '/readyz']) expect((await ask(path, 'evil.example')).status).to.equal(200)
  })

  it('require the token for metrics, if one is set', async () => {
    await start({ metricsToken: TOKEN })
    for (const wrong of [
      undefined,
      '',
      TOKEN,
      'Bearer',
      `Bearer ${TOKEN.slice(0, -1)}`,
      `Bearer ${TOKEN}x`,
      `bearer ${TOKEN}`,
      `Basic ${TOKEN}`,
      `Bearer ${gateway.liveKey}`,
    ]) {
      const reply = await get('/metrics', wrong)
      expect(reply.status, wrong).to.equal(401)
      expect(reply.headers.get('www-authenticate')).to.equal('Bearer')
      expect(await reply.json())
        .to.have.nested.property('error.message')
        .which.includes('UMG_METRICS_TOKEN')
    }
    expect((await get(`/metrics?token=${TOKEN}`)).status).to.equal(401)
    expect((await get('/metrics', `Bearer ${TOKEN}`)).status).to.equal(200)
    expect((await get('/livez')).status).to.equal(200)
  })

  it('are absent from the public listener if there is an admin listener', async () => {
    await start({ adminListen: true, metricsToken: TOKEN })
    expect(gateway.adminUrl).to.not.equal(gateway.url)
    for (const path of ENDPOINTS) {
      await expectNowhere(gateway.url, path)
      expect((await get(path, `Bearer ${TOKEN}`, gateway.adminUrl)).status).to.equal(200)
    }
    await expectNowhere(gateway.adminUrl, '/nowhere')
  })

  it('refuse on the admin listener what the public one refuses', async () => {
    await start({ adminListen: true, metricsToken: TOKEN })
    const unauthorized = { status: 401, code: 'invalid_api_key', headers: { 'www-authenticate': 'Bearer' } }
    const malformed = { status: 400, code: 'malformed_http', headers: { connection: 'close' } }
    for (const [bytes, refusal] of [
      ['GET /metrics HTTP/1.1\r\nHost: admin\r\n\r\n', unauthorized],
      ['GET /metrics HTTP/1.1\r\n\r\n', malformed],
      ['GET /metrics HTTP/1.1\r\nHost: admin/livez?\r\n\r\n', malformed],
      ['GET /metrics# HTTP/1.1\r\nHost: admin\r\n\r\n', { status: 404, code: null }],
      ['POST /metrics HTTP/1.1\r\nHost: admin\r\n\r\n', { status: 405, code: null, headers: { allow: 'HEAD, GET' } }],
      ['\0\r\n\r\n', malformed],
    ] as const) {
      const connection = await rawConnection(gateway.adminUrl)
      connection.write(bytes)
      expectError(await connection.reply(), refusal)
      connection.socket.destroy()
    }
  })

  it('report not ready, and still live, while the gateway drains', async () => {
    await start()
    const draining = healthRouter(() => 'draining')
    const server = createServer(new Koa().use(draining.routes()).callback())
    const url = await listen(server, { host: '127.0.0.1', port: 0 })
    const ready = await get('/readyz', undefined, url)
    expect([ready.status, await ready.text()]).to.deep.equal([503, 'draining\n'])
    const verbose = await get('/readyz?verbose', undefined, url)
    expect([verbose.status, await verbose.text()]).to.deep.equal([
      503,
      'draining\n[-] draining: The gateway was told to end. It serves the calls that it has.\n',
    ])
    expect((await get('/livez', undefined, url)).status).to.equal(200)
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
})
