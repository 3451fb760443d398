import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { expect } from 'chai'
import { selfSigned } from '../../support/certificate.ts'
import { dnsServer } from '../../support/dns-server.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { itWith } from '../../support/requirements.ts'
import { Home } from '../lifecycle/umg.ts'
import { trust } from './fixture.ts'
import { type SecureUpstream, secureUpstream } from './secure-upstream.ts'

const certificate = selfSigned({ name: 'models.test' })
const local = selfSigned({ name: '127.0.0.1', subject: 'local' })

/** What a client asked a proxy for. */
interface Asked {
  readonly authority: string | undefined
  readonly credentials: string | undefined
}

describe('HTTPS_PROXY', () => {
  let upstream: SecureUpstream
  let proxy: Server
  let gateway: TestGateway | undefined
  let asked: Asked[]
  let status: number
  trust(certificate, local)

  beforeEach(async () => {
    upstream = await secureUpstream(certificate)
    asked = []
    status = 200
    proxy = createServer()
    proxy.on('connect', ({ url: authority, headers }, socket) => {
      asked.push({ authority, credentials: headers['proxy-authorization'] })
      if (status !== 200) return void socket.end(`HTTP/1.1 ${status} No\r\ncontent-length: 0\r\n\r\n`)
      const onwards = connect(upstream.port, '127.0.0.1', () => socket.write('HTTP/1.1 200 OK\r\n\r\n'))
      socket.on('error', () => onwards.destroy()).pipe(onwards)
      onwards.on('error', () => socket.destroy()).pipe(socket)
    })
    await once(proxy.listen(0, '127.0.0.1'), 'listening')
  })
  afterEach(async () => {
    await gateway?.stop()
    gateway = undefined
    await upstream?.close()
    proxy?.close()
  })

  const urlOfProxy = (user = ''): string => `http://${user}127.0.0.1:${(proxy.address() as AddressInfo).port}`

  async function start(env: NodeJS.ProcessEnv, host = 'models.test:8443'): Promise<TestGateway> {
    const namespaces = { up: { provider: 'openai-compatible', config: { baseUrl: `https://${host}/v1` } } }
    gateway = await startTestGateway({ routes: { chain: [{ plugin: 'auth' }], namespaces }, env })
    return gateway
  }

  async function statusOf(at: TestGateway): Promise<number> {
    const reply = await at.fetch('/v1/chat/completions', { json: { model: 'up/m', messages: [{ role: 'user', content: 'Hi' }] } })
    await reply.text()
    return reply.status
  }

  it('takes calls and lists of models to https upstreams, whose names the proxy resolves; a connection is used again', async () => {
    const at = await start({ HTTPS_PROXY: urlOfProxy('user:pass%20word@') })
    expect([await statusOf(at), await statusOf(at)]).to.deep.equal([200, 200])
    const credentials = `Basic ${Buffer.from('user:pass word').toString('base64')}`
    expect(asked).to.deep.equal([{ authority: 'models.test:8443', credentials }])
    expect((await at.openai().models.list()).data.map(({ id }) => id)).to.deep.equal(['up/found'])
    expect(asked).to.have.length(2)
  })

  it('that refuses is upstream_unreachable, with its status in the log', async () => {
    status = 407
    const at = await start({ https_proxy: urlOfProxy() })
    expect(await statusOf(at)).to.equal(502)
    const line = await at.logged((each) => JSON.stringify(each).includes('PROXY_STATUS_407'))
    expect(JSON.stringify(line)).to.include('upstream_unreachable')
  })

  it('that cannot be used is named by umg start and umg validate', async () => {
    const home = await Home.create({ 'routes.yaml': 'version: 1\nchain: []\nnamespaces: { sandbox: { provider: sandbox } }\n' })
    try {
      for (const command of [['start', '--port', '0'], ['validate']]) {
        const { code, stderr } = await home.run(command, { env: { HTTPS_PROXY: 'socks5://127.0.0.1:1080' } }).ended
        expect(code).to.equal(1)
        expect(stderr).to.include('HTTPS_PROXY must be the URL of an HTTP proxy, such as http://proxy.example.com:3128.')
        expect(stderr).not.to.include('    at ')
      }
    } finally {
      await home.remove()
    }
  })

  it('is not used for upstreams on this machine', async () => {
    const own = await secureUpstream(local)
    try {
      const at = await start({ HTTPS_PROXY: urlOfProxy() }, `127.0.0.1:${own.port}`)
      expect(await statusOf(at)).to.equal(200)
      expect(asked).to.deep.equal([])
    } finally {
      await own.close()
    }
  })

  for (const [entry, isExempt] of [
    ['models.test', true],
    ['other.example, .test', true],
    ['*', true],
    ['models.test:443', false],
    ['els.test', false],
    ['10.0.0.0/8', false],
  ] as const)
    itWith('linux', `is ${isExempt ? 'not ' : ''}used with NO_PROXY=${entry}`, async () => {
      const names = await dnsServer({ 'models.test': { addresses: ['127.0.0.1'] } })
      try {
        const at = await start({ HTTPS_PROXY: urlOfProxy(), NO_PROXY: entry }, `models.test:${upstream.port}`)
        expect(await statusOf(at)).to.equal(200)
        expect(asked).to.have.length(isExempt ? 0 : 1)
      } finally {
        await names.close()
      }
    })
})
