import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import type tls from 'node:tls'
import { expect } from 'chai'
import OpenAI from 'openai'
import { head, hold, type ScriptedUpstream, scriptedUpstream } from '../../../core/testing/kit.ts'
import type { Certificate } from '../../support/certificate.ts'
import { until } from '../../support/poll.ts'
import { gatewayCertificate, isSame, TlsGateway, trust } from './fixture.ts'

const first = gatewayCertificate()
const second = gatewayCertificate('renewed')
const third = gatewayCertificate('renewed again')

for (const workers of ['1', '2']) {
  describe(`a gateway with a certificate and --workers ${workers}`, () => {
    let upstream: ScriptedUpstream
    let gateway: TlsGateway
    trust(first, second, third)

    before(async () => {
      upstream = await scriptedUpstream()
      const routes = ROUTES.replace('ORIGIN', upstream.origin)
      gateway = await TlsGateway.start(first, routes, '--workers', workers)
    })
    after(async () => {
      await gateway?.stop()
      await upstream?.close()
    })

    /** Resolves when every process shows a certificate: they get connections in turn. */
    const untilShown = (certificate: Certificate): Promise<void> =>
      until(async () => {
        const shown = await Promise.all([gateway.shown(), gateway.shown(), gateway.shown(), gateway.shown()])
        return shown.every((each) => isSame(each, certificate))
      })

    const openai = () => new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.secret, maxRetries: 0 })
    const ask = { model: 'sandbox/hello', messages: [{ role: 'user' as const, content: 'Hello!' }] }

    it('serves the official SDK by https, whole and streamed', async () => {
      expect(gateway.url).to.match(/^https:\/\/127\.0\.0\.1:\d+$/)
      const whole = await openai().chat.completions.create(ask)
      expect(whole.choices[0]!.finish_reason).to.equal('stop')
      const finishes: unknown[] = []
      for await (const { choices } of await openai().chat.completions.create({ ...ask, stream: true }))
        finishes.push(choices[0]?.finish_reason)
      expect(finishes).to.include('stop')
      expect((await fetch(`${gateway.url}/api/v1/session`)).status).to.equal(401)
    })

    it('refuses TLS 1.1, and takes 1.2 and 1.3', async () => {
      const by = (version: tls.SecureVersion) =>
        gateway.shown({ minVersion: version, maxVersion: version, ciphers: 'DEFAULT@SECLEVEL=0' })
      const refusal = await by('TLSv1.1').catch((error: unknown) => error)
      expect(refusal).to.have.property('code', 'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION')
      expect(isSame(await by('TLSv1.2'), first)).to.equal(true)
      expect(isSame(await by('TLSv1.3'), first)).to.equal(true)
    })

    it('takes no suite of TLS 1.2 without forward secrecy and authenticated encryption', async () => {
      const by = (ciphers: string) => gateway.shown({ maxVersion: 'TLSv1.2', ciphers })
      for (const old of ['ECDHE-ECDSA-AES128-SHA', 'ECDHE-ECDSA-AES256-SHA384', 'AES128-GCM-SHA256'])
        expect(await by(`${old}:@SECLEVEL=0`).catch(String), old)
          .to.be.a('string')
          .that.includes('alert handshake failure')
      expect(isSame(await by('ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256'), first)).to.equal(true)
    })

    it('tells browsers to use https alone, on every path', async () => {
      for (const path of ['/v1/models', '/livez', '/api/v1/session', '/', '/nothing']) {
        const { headers } = await fetch(gateway.url + path)
        expect(headers.get('strict-transport-security'), path).to.equal('max-age=31536000')
      }
    })

    it('closes the connection of a client that speaks no TLS, and serves on', async () => {
      const socket = connect(gateway.port, '127.0.0.1')
      socket.on('error', () => undefined)
      const reply = text(socket).catch(() => '')
      socket.write('GET /livez HTTP/1.1\r\nhost: gateway\r\n\r\n')
      await once(socket, 'close')
      expect(await reply).not.to.include('HTTP/1.1 200')
      expect((await fetch(`${gateway.url}/livez`)).status).to.equal(200)
    })

    it('is found by umg healthcheck and umg reload with the variables of umg start', async () => {
      const env = { UMG_TLS_CERT: 'gateway.crt', UMG_PORT: String(gateway.port), UMG_HOST: '0.0.0.0' }
      const { code, stdout } = await gateway.home.run(['healthcheck'], { env }).ended
      expect({ code, stdout }).to.deep.equal({ code: 0, stdout: `${gateway.url} is ready\n` })
      const key = (await gateway.home.run(['keys', 'create', '--admin', '--name', 'one']).ended).stdout.trim()
      const reload = () => gateway.home.run(['reload'], { env: { ...env, UMG_ADMIN_KEY: key } }).ended
      expect(await reload()).to.include({ code: 0, stdout: 'nothing has changed\n' })
      // The server has another key than that of the file: the admin key is not sent.
      await gateway.home.write('other.crt', second.cert)
      env.UMG_TLS_CERT = 'other.crt'
      expect(await reload()).to.include({ code: 2 })
    })

    // The last ones: the others know the first certificate.
    it('uses a replaced certificate for new connections, while a stream on an old one goes on', async () => {
      const held = hold()
      upstream.on(() => [
        head(200, { 'content-type': 'text/event-stream' }),
        chunk('Hel'),
        held,
        chunk('lo', 'stop'),
        'data: [DONE]\n\n',
      ])
      const stream = await openai().chat.completions.create({ ...ask, model: 'up/m', stream: true })
      const words: string[] = []
      let isRotated = false
      for await (const { choices } of stream) {
        words.push(choices[0]?.delta.content ?? '')
        if (isRotated) continue
        await gateway.replace(second)
        await gateway.umg.prints(/"msg":"TLS certificate replaced"/)
        await untilShown(second)
        isRotated = true
        held.release()
      }
      expect(words.join('')).to.equal('Hello')
      expect((await openai().chat.completions.create(ask)).choices).to.have.length(1)
    })

    it('keeps its certificate while the files cannot be used, and says what is wrong', async () => {
      const replacements = gateway.replacements
      await gateway.replace({ key: third.key })
      await gateway.umg.prints(/The key in \S+gateway\.key is not that of the certificate in \S+gateway\.crt/)
      expect(isSame(await gateway.shown(), second)).to.equal(true)
      await gateway.replace({ cert: third.cert })
      await until(() => gateway.replacements > replacements)
      await untilShown(third)
    })
  })
}

describe('a gateway with a certificate', () => {
  trust(first)

  it('gives a proxy that replaces another the certificate in use, although its files cannot be used', async () => {
    const gateway = await TlsGateway.start(first, ROUTES.replace('ORIGIN', 'http://127.0.0.1:9'), '--workers', '2')
    try {
      const [, pid] = await gateway.umg.prints(/"processes":\{.*?"proxy-1\.\d+":(\d+)/)
      await gateway.replace({ key: 'none' })
      await gateway.umg.prints(/the new TLS certificate cannot be used/)
      process.kill(Number(pid), 'SIGKILL')
      await gateway.umg.prints(/"msg":"process serves"/)
      // Proxies get connections in turn.
      for (let connection = 0; connection < 4; connection++) expect(isSame(await gateway.shown(), first)).to.equal(true)
    } finally {
      await gateway.stop()
    }
  })

  it('speaks https on its listener for operators too', async () => {
    const gateway = await TlsGateway.start(first, ROUTES.replace('ORIGIN', 'http://127.0.0.1:9'), '--admin-listen', '127.0.0.1:0')
    try {
      const [, people] = await gateway.umg.prints(/(https:\/\/127\.0\.0\.1:\d+)\/console/)
      expect(people).not.to.equal(gateway.url)
      expect((await fetch(`${people}/readyz`)).status).to.equal(200)
      expect((await fetch(`${gateway.url}/v1/models`)).status).to.equal(401)
    } finally {
      await gateway.stop()
    }
  })
})

/** One event of a stream. */
const chunk = (content: string, finish: string | null = null): string =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta: { content }, finish_reason: finish }] })}\n\n`

const ROUTES = `version: 1
chain:
  - plugin: auth
namespaces:
  sandbox: { provider: sandbox }
  up: { provider: openai-compatible, testKeys: upstream, config: { baseUrl: "ORIGIN/v1" } }
`
