import { expect } from 'chai'
import { json, type ScriptedUpstream, scriptedUpstream } from '../../../core/testing/kit.ts'
import { type DnsServer, dnsServer } from '../../support/dns-server.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { describeWith } from '../../support/requirements.ts'
import { COMPLETION } from '../client-faults/fixture.ts'

/** More than libuv has threads. */
const SILENT = 8

describeWith('linux', 'An upstream that is reached by name', () => {
  let names: DnsServer
  let upstream: ScriptedUpstream
  let gateway: TestGateway

  before(async () => {
    names = await dnsServer({
      'named.test': { addresses: ['127.0.0.1'], ttl: 30 },
      'both.test': { addresses: ['::1', '127.0.0.1'] },
      ...Object.fromEntries(Array.from({ length: SILENT }, (_, index) => [`silent-${index}.test`, { silent: 'both' }])),
    })
    upstream = await scriptedUpstream()
    upstream.on(() => json(COMPLETION))
    const at = (name: string) => ({
      provider: 'openai-compatible',
      config: { baseUrl: `${upstream.origin.replace('127.0.0.1', name)}/v1` },
    })
    const silent = Array.from({ length: SILENT }, (_, index) => [`silent-${index}`, at(`silent-${index}.test`)])
    gateway = await startTestGateway({
      routes: {
        chain: [{ plugin: 'auth' }],
        namespaces: { up: at('named.test'), both: at('both.test'), local: at('localhost'), ...Object.fromEntries(silent) },
      },
    })
  })

  after(async () => {
    await gateway?.stop()
    await upstream?.close()
    await names?.close()
  })

  const call = (namespace: string, signal?: AbortSignal) =>
    gateway.fetch('/v1/chat/completions', {
      json: { model: `${namespace}/m`, messages: [{ role: 'user', content: 'Hi' }] },
      ...(signal && { signal }),
    })

  it('is called at an address of that name', async () => {
    expect((await call('up')).status).to.equal(200)
    expect(upstream.requests.at(-1)?.headers.host).to.match(/^named\.test:/)
    expect(names.questions).to.include('A named.test')
  })

  it('is called at the address that accepts a connection, if it has several', async () => {
    expect((await call('both')).status).to.equal(200)
  })

  it('is called at loopback if the name is localhost', async () => {
    expect((await call('local')).status).to.equal(200)
  })

  it('is called while the names of many others do not resolve', async () => {
    const leaving = new AbortController()
    const waiting = Array.from({ length: SILENT }, (_, index) => call(`silent-${index}`, leaving.signal).catch(() => 'left'))
    while (names.questions.filter((question) => question.includes('silent')).length < SILENT)
      expect((await call('up')).status).to.equal(200)
    for (const namespace of ['up', 'both', 'local']) expect((await call(namespace)).status).to.equal(200)
    leaving.abort()
    expect(await Promise.all(waiting)).to.deep.equal(Array(SILENT).fill('left'))
  })
})
