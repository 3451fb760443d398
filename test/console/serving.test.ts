import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect } from 'chai'
import Koa from 'koa'
import { consoleRouter } from '../../core/control/console.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { rawConnection } from '../support/raw-connection.ts'

const ROUTES = { chain: [{ plugin: 'auth' }], namespaces: { sandbox: { provider: 'sandbox' } } }

describe('/console', () => {
  let gateway: TestGateway

  before(async () => {
    gateway = await startTestGateway({ routes: ROUTES })
  })

  after(() => gateway?.stop())

  const get = (path: string, init?: RequestInit) => fetch(gateway.url + path, init)

  it('is where / leads', async () => {
    const response = await get('/', { redirect: 'manual' })
    expect([response.status, response.headers.get('location')]).to.deep.equal([302, '/console'])
  })

  for (const path of ['/console', '/console/', '/console/keys', '/console/requests/req_0', '/console/some.thing/deep'])
    it(`serves the index at ${path}`, async () => {
      const response = await get(path)
      expect(response.status).to.equal(200)
      expect(response.headers.get('content-type')).to.equal('text/html; charset=utf-8')
      expect(response.headers.get('cache-control')).to.equal('no-cache')
      expect(response.headers.get('etag'), 'what was kept would have the nonce of another reply').to.equal(null)
      expect(await response.text()).to.include('<div id="root"></div>')
    })

  it('has a content security policy with a new nonce each time', async () => {
    const nonces = new Set<string>()
    for (let time = 0; time < 2; time++) {
      const response = await get('/console')
      const policy = response.headers.get('content-security-policy')!
      const [, nonce] = /style-src 'self' 'nonce-([\w+/]{24})'/.exec(policy)!
      expect(policy.split('; ')).to.have.members([
        "default-src 'none'",
        "script-src 'self'",
        `style-src 'self' 'nonce-${nonce}'`,
        "connect-src 'self'",
        "img-src 'self'",
        "base-uri 'none'",
        "object-src 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
      ])
      expect(response.headers.get('x-content-type-options')).to.equal('nosniff')
      expect(response.headers.get('referrer-policy')).to.equal('no-referrer')
      expect(await response.text())
        .to.include(`nonce="${nonce}"`)
        .and.not.include('NONCE')
      nonces.add(nonce!)
    }
    expect(nonces.size, 'a nonce is used once').to.equal(2)
  })

  it('serves files with a hash in their name as immutable, and compressed if accepted', async () => {
    const index = await (await get('/console')).text()
    const [, script] = /src="(\/console\/assets\/[\w-]+\.js)"/.exec(index)!
    const plain = await get(script!, { headers: { 'accept-encoding': 'identity' } })
    expect(plain.headers.get('cache-control')).to.equal('public, max-age=31536000, immutable')
    expect(plain.headers.get('content-type')).to.equal('text/javascript; charset=utf-8')
    expect(plain.headers.get('content-encoding')).to.equal(null)
    const small = await get(script!, { headers: { 'accept-encoding': 'gzip' } })
    expect(small.headers.get('content-encoding')).to.equal('gzip')
    expect(small.headers.get('vary')).to.equal('accept-encoding')
    expect(await small.text()).to.equal(await plain.text())
  })

  it('serves other files with no-cache', async () => {
    expect((await get('/console/mark.svg')).headers.get('cache-control')).to.equal('no-cache')
  })

  it('replies 404 for an unknown asset', async () => {
    const response = await get('/console/assets/index-00000000.js')
    expect(response.status).to.equal(404)
    expect(response.headers.get('content-type')).to.equal('application/json')
  })

  for (const path of ['/console/../package.json', '/console/assets/../../package.json', '/console/%2e%2e%2fpackage.json'])
    it(`serves no files outside its folder: ${path}`, async () => {
      const connection = await rawConnection(gateway.url)
      connection.write(`GET ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`)
      expect((await connection.reply()).body).to.not.include('"unified-model-gateway"')
    })

  it('allows GET and HEAD only', async () => {
    const response = await get('/console/keys', { method: 'POST' })
    expect(response.status).to.equal(405)
    expect(response.headers.get('allow')).to.equal('HEAD, GET')
  })

  it('is served on the admin listener only, if there is one', async () => {
    const parted = await startTestGateway({ routes: ROUTES, adminListen: true })
    expect((await fetch(`${parted.url}/console`)).status).to.equal(404)
    expect((await fetch(`${parted.adminUrl}/console`)).status).to.equal(200)
    await parted.stop()
  })

  it('says how to build it if it is not built', async () => {
    const app = new Koa().use(consoleRouter('/no/such/folder').routes() as Koa.Middleware)
    const server = createServer(app.callback()).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/console/keys`)
    expect(response.status).to.equal(503)
    expect(await response.text()).to.include('node console/build.mjs')
    server.close()
  })
})
