import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { selfSigned } from '../../support/certificate.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { Home } from '../lifecycle/umg.ts'
import { trust } from './fixture.ts'
import { type SecureUpstream, secureUpstream } from './secure-upstream.ts'

const server = selfSigned({ name: '127.0.0.1', subject: 'upstream' })
const client = selfSigned({ name: 'gateway.internal' })
const renewed = selfSigned({ name: 'gateway.internal', subject: 'gateway.renewed' })
const other = selfSigned({ name: '127.0.0.1', subject: 'other' })

const FILES = { 'ca.pem': server.cert, 'other.pem': other.cert, 'client.pem': client.cert, 'client.key': client.key }
const CA = `\${file:ca.pem}`
const CLIENT = { cert: `\${file:client.pem}`, key: `\${file:client.key}` }

const ask = { model: 'up/m', messages: [{ role: 'user' as const, content: 'Hi' }] }

describe('an https upstream', () => {
  let upstream: SecureUpstream
  let gateway: TestGateway | undefined

  afterEach(async () => {
    await gateway?.stop()
    gateway = undefined
    await upstream?.close()
  })

  async function start(tls?: object): Promise<TestGateway> {
    const config = { baseUrl: `https://127.0.0.1:${upstream.port}/v1` }
    const namespaces = { up: { provider: 'openai-compatible', config, ...(tls && { tls }) } }
    gateway = await startTestGateway({ routes: { chain: [{ plugin: 'auth' }], namespaces }, files: FILES })
    return gateway
  }

  const statusOf = async (at: TestGateway): Promise<number> => {
    const reply = await at.fetch('/v1/chat/completions', { json: ask })
    await reply.text()
    return reply.status
  }

  describe('with a certificate of a private authority', () => {
    beforeEach(async () => {
      upstream = await secureUpstream(server)
    })

    it('is not trusted without it', async () => {
      const at = await start()
      expect(await statusOf(at)).to.equal(502)
      expect(upstream.clients).to.deep.equal([])
    })

    it('is trusted by tls.ca: calls and the list of models reach it', async () => {
      const at = await start({ ca: CA })
      expect((await at.openai().chat.completions.create(ask)).choices[0]!.message.content).to.equal('Hello')
      const ids = (await at.openai().models.list()).data.map(({ id }) => id)
      expect(ids).to.deep.equal(['up/found'])
    })

    it('is trusted by NODE_EXTRA_CA_CERTS, as all upstreams are', async () => {
      const routes = `version: 1
chain: [{ plugin: auth }]
namespaces:
  up: { provider: openai-compatible, testKeys: upstream, config: { baseUrl: "https://127.0.0.1:${upstream.port}/v1" } }
`
      const home = await Home.create({ 'routes.yaml': routes, ...FILES })
      try {
        const umg = home.run(['start', '--port', '0'], { env: { NODE_EXTRA_CA_CERTS: join(home.path, 'ca.pem') } })
        const [, url] = await umg.prints(/^listening on (\S+)$/m)
        const [key] = await umg.prints(/sk-test-\w+/)
        const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
        const reply = await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body: JSON.stringify(ask) })
        expect(reply.status, await reply.text()).to.equal(200)
      } finally {
        await home.remove()
      }
    })

    describe('whose certificate Node trusts', () => {
      trust(server)

      it('is refused if tls.ca holds only others', async () => {
        expect(await statusOf(await start())).to.equal(200)
        await gateway!.stop()
        expect(await statusOf(await start({ ca: `\${file:other.pem}` }))).to.equal(502)
      })
    })
  })

  describe('that demands a certificate of its clients', () => {
    beforeEach(async () => {
      upstream = await secureUpstream(server, client)
    })

    it('gets that of the namespace, and refuses a namespace without one', async () => {
      const at = await start({ ca: CA, ...CLIENT })
      expect(await statusOf(at)).to.equal(200)
      expect(upstream.clients).to.deep.equal(['gateway.internal'])
      await at.stop()
      expect(await statusOf(await start({ ca: CA }))).to.equal(502)
    })

    it('gets a new one when its files change', async () => {
      const at = await start({ ca: CA, ...CLIENT })
      expect(await statusOf(at)).to.equal(200)
      await upstream.close()
      upstream = await secureUpstream(server, renewed)
      const config = { baseUrl: `https://127.0.0.1:${upstream.port}/v1` }
      const routes = {
        version: 1,
        chain: [{ plugin: 'auth' }],
        namespaces: { up: { provider: 'openai-compatible', config, tls: { ca: CA, ...CLIENT } } },
      }
      await writeFile(join(at.folder, 'client.pem'), renewed.cert)
      await writeFile(join(at.folder, 'client.key'), renewed.key)
      await writeFile(join(at.folder, 'routes.yaml'), JSON.stringify(routes))
      expect((await at.reload()).ok).to.equal(true)
      expect(await statusOf(at)).to.equal(200)
      expect(upstream.clients).to.deep.equal(['gateway.renewed'])
    })
  })
})

const WRONG: readonly (readonly [name: string, tls: object, message: RegExp])[] = [
  [
    'a certificate without its key',
    { cert: CLIENT.cert },
    /namespace up: tls\.cert needs tls\.key, the private key of the gateway/,
  ],
  [
    'a key without its certificate',
    { key: CLIENT.key },
    /namespace up: tls\.key needs tls\.cert, the certificate of the gateway/,
  ],
  [
    'a key of another certificate',
    { cert: `\${file:other.pem}`, key: CLIENT.key },
    /namespace up: tls\.key is not the key of tls\.cert: give the two files that were issued together/,
  ],
  [
    'a path in place of the text',
    { ca: '/etc/umg/ca.pem' },
    /tls\.ca must be the text of certificates in PEM, such as "\$\{file:/,
  ],
  ['a key in plain text', { ...CLIENT, key: client.key }, /tls\.key is a secret and must not be in this file/],
]

describe('umg validate refuses as settings of TLS', () => {
  for (const [name, tls, message] of WRONG)
    it(name, async () => {
      const config = { baseUrl: 'https://127.0.0.1/v1' }
      const routes = { version: 1, chain: [], namespaces: { up: { provider: 'openai-compatible', config, tls } } }
      const home = await Home.create({ 'routes.yaml': JSON.stringify(routes), ...FILES })
      try {
        const { code, stdout, stderr } = await home.run(['validate']).ended
        expect(code).to.equal(1)
        expect(stdout + stderr).to.match(message)
        expect(stdout + stderr).not.to.include(client.key.split('\n')[1])
      } finally {
        await home.remove()
      }
    })
})
