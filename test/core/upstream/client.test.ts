import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import tls from 'node:tls'
import { expect } from 'chai'
import { FIN, head, hold, json, RST, type ScriptedUpstream, type Step, scriptedUpstream } from '../../../core/testing/kit.ts'
import { type Receiver, type Sending, UpstreamClient } from '../../../core/upstream/client.ts'
import { selfSigned } from '../../support/certificate.ts'

/** Hears of one request. */
class Hearer implements Receiver {
  readonly isCommitted = false
  readonly heard: string[] = []
  readonly over = Promise.withResolvers<void>()
  headers: Readonly<Record<string, string>> = {}
  size = 0
  onPiece = (): void => undefined

  onSent(): void {
    this.heard.push('sent')
  }

  onHead(status: number, headers: Readonly<Record<string, string>>): void {
    this.heard.push(`head ${status}`)
    this.headers = headers
  }

  onData(bytes: Buffer): void {
    this.size += bytes.length
    this.onPiece()
  }

  onEnd(): void {
    this.heard.push('end')
    this.over.resolve()
  }

  onError(_: Error, stale: boolean): void {
    this.heard.push(stale ? 'stale' : 'error')
    this.over.resolve()
  }
}

describe('a request to an upstream', () => {
  let upstream: ScriptedUpstream
  let client: UpstreamClient
  beforeEach(async () => {
    upstream = await scriptedUpstream()
    client = new UpstreamClient()
  })
  afterEach(async () => {
    await client?.close()
    await upstream?.close()
  })

  function send({ fresh = false, origin = upstream.origin } = {}): { hearer: Hearer; sending: Sending } {
    const hearer = new Hearer()
    const sending = client.send({ origin, path: '/', headers: { 'content-type': 'text/plain' }, body: 'hello' }, hearer, fresh)
    return { hearer, sending }
  }

  async function sent(options?: { fresh?: boolean; origin?: string }): Promise<Hearer> {
    const { hearer } = send(options)
    await hearer.over.promise
    // A connection can be used again a turn after its reply.
    await turn()
    return hearer
  }

  const WELL = ['sent', 'head 200', 'end']
  const places = () => upstream.requests.map(({ connection, turn: nth }) => `${connection}.${nth}`)

  it('reuses the connection of the request before; a fresh one opens its own and closes it', async () => {
    upstream.on(() => json({}))
    for (const fresh of [false, false, true, false]) expect((await sent({ fresh })).heard).to.deep.equal(WELL)
    expect(places()).to.deep.equal(['1.1', '1.2', '2.1', '1.3'])
    await upstream.requests[2]!.closed
  })

  it('joins a repeated header of the reply', async () => {
    upstream.on(() => json({}, { headers: { 'x-a': ['1', '2'], 'x-b': '3' } }))
    expect((await sent()).headers).to.include({ 'x-a': '1, 2', 'x-b': '3' })
  })

  it('ignores early hints', async () => {
    upstream.on(() => [head(103, { link: '</x>' }), head(103), ...json({})])
    expect((await sent()).heard).to.deep.equal(WELL)
  })

  const ENDS: readonly (readonly [name: string, script: Step[], first: string, second: string])[] = [
    ['is reset', [RST], 'error', 'stale'],
    ['is closed', [FIN], 'error', 'stale'],
    ['is reset within a head', ['HTTP/1.1 200', RST], 'error', 'error'],
    ['is closed within a head', ['HTTP/1.1 200', FIN], 'error', 'error'],
    ['says what is no HTTP', ['nonsense\r\n\r\n'], 'error', 'error'],
  ]

  for (const [name, script, first, second] of ENDS) {
    it(`whose connection ${name} is ${second === 'stale' ? '' : 'not '}stale if the connection had served before`, async () => {
      upstream.reply(script)
      expect((await sent()).heard).to.deep.equal(['sent', first])
      upstream.reply(json({}))
      await sent()
      upstream.reply(script)
      expect((await sent()).heard).to.deep.equal(['sent', second])
      expect(places()).to.deep.equal(['1.1', '2.1', '2.2'])
    })
  }

  it('whose connection is closed in a reply is not stale', async () => {
    upstream.on(({ turn: nth }) => (nth === 1 ? json({}) : [head(200, { 'content-length': '9' }), 'x', RST]))
    await sent()
    expect((await sent()).heard).to.deep.equal(['sent', 'head 200', 'error'])
  })

  it('over TLS becomes stale in the same way', async () => {
    const certificate = selfSigned({ name: 'localhost' })
    const trusted = tls.getCACertificates('default')
    tls.setDefaultCACertificates([...trusted, certificate.cert])
    let asked = 0
    const server = tls.createServer(certificate, (socket) => {
      socket.on('data', () => (asked++ === 0 ? socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n') : socket.end()))
      socket.on('error', () => undefined)
    })
    await once(server.listen(0, 'localhost'), 'listening')
    const origin = `https://localhost:${(server.address() as AddressInfo).port}`
    try {
      expect((await sent({ origin })).heard).to.deep.equal(WELL)
      expect((await sent({ origin })).heard).to.deep.equal(['sent', 'stale'])
    } finally {
      tls.setDefaultCACertificates(trusted)
      server.close()
    }
  })

  it('that is aborted while it connects leaves no open socket', async () => {
    const server = createServer()
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const { hearer, sending } = send({ origin: `https://127.0.0.1:${(server.address() as AddressInfo).port}` })
    const [socket] = (await once(server, 'connection')) as [Socket]
    // What of the handshake has come must be read, for the close to be seen.
    socket.resume().on('error', () => undefined)
    sending.abort()
    await once(socket, 'close')
    expect(hearer.heard).to.deep.equal([])
    server.close()
  })

  it('that is aborted within its reply closes its connection, and reports nothing more', async () => {
    const stalled = hold()
    upstream.on(() => [head(200, { 'content-length': '9' }), stalled])
    const { hearer, sending } = send()
    await stalled.reached
    sending.abort()
    await upstream.requests[0]!.closed
    expect(hearer.heard[0]).to.equal('sent')
    expect(hearer.heard).not.to.include('error')
  })

  it('that is paused reads no more than is in transit', async () => {
    const size = 64 << 20
    upstream.on(() => [head(200, { 'content-length': String(size) }), Buffer.alloc(size)])
    const { hearer, sending } = send()
    const paused = Promise.withResolvers<void>()
    hearer.onPiece = () => {
      sending.pause()
      paused.resolve()
    }
    await paused.promise
    upstream.on(() => json({}))
    for (let other = 0; other < 10; other++) await sent()
    expect(hearer.size).to.be.below(1 << 20)
    hearer.onPiece = () => undefined
    sending.resume()
    await hearer.over.promise
    expect(hearer.size).to.equal(size)
  })

  it('may finish when the client closes, and idle connections are closed at once', async () => {
    const stalled = hold()
    upstream.on(({ connection }) => (connection === 1 ? [head(200, { 'content-length': '1' }), stalled, 'x'] : json({})))
    const { hearer } = send()
    await stalled.reached
    await sent()
    const closing = client.close()
    await upstream.requests[1]!.closed
    stalled.release()
    await closing
    expect(hearer.heard).to.deep.equal(WELL)
  })
})
