import { expect } from 'chai'
import { json, type ScriptedUpstream, scriptedUpstream } from '../../../core/testing/kit.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { watchParsing } from '../../support/watch-parsing.ts'
import { COMPLETION, expectError, type Fixture, startFixture } from './fixture.ts'

const LIMIT = 1 << 20
const TOO_LARGE = { status: 413, code: 'request_too_large' }

/** A body of so many bytes. */
function sized(model: string, size: number): string {
  const body = (text: string) => JSON.stringify({ model, messages: [{ role: 'user', content: text }] })
  return body('x'.repeat(size - body('').length))
}

describe('a body of a test key', () => {
  let fixture: Fixture

  before(async () => {
    fixture = await startFixture()
  })

  after(() => fixture?.stop())

  const callOf = (size: number, lines: readonly string[] = []) =>
    fixture.call({ body: sized('up/some-model', size), lines: [`Authorization: Bearer ${fixture.gateway.testKey}`, ...lines] })

  it('of 1 MiB is answered by the sandbox', async () => {
    const connection = await fixture.connect()
    connection.write(callOf(LIMIT))
    expect(await connection.reply()).to.include({ status: 200 })
    connection.socket.destroy()
  })

  it('of more is refused by its length, before it is sent', async () => {
    const connection = await fixture.connect()
    const call = callOf(LIMIT + 1, ['Expect: 100-continue'])
    connection.write(call.subarray(0, call.indexOf('\r\n\r\n') + 4))
    expect(expectError(await connection.reply(), TOO_LARGE)).to.include(`${LIMIT} bytes`)
    await connection.closed
  })

  it('of more is refused, whatever its endpoint, and the connection goes on', async () => {
    for (const path of ['/v1/chat/completions', '/v1/embeddings', '/v1/responses']) {
      const connection = await fixture.connect()
      const lines = [`Authorization: Bearer ${fixture.gateway.testKey}`]
      connection.write(fixture.call({ requestLine: `POST ${path} HTTP/1.1`, lines, body: sized('up/some-model', LIMIT + 1) }))
      expectError(await connection.reply(), TOO_LARGE)
      connection.write(callOf(1000))
      expect(await connection.reply()).to.include({ status: 200 })
      connection.socket.destroy()
    }
  })
})

describe('a body for the sandbox', () => {
  const parsing = watchParsing()
  let gateway: TestGateway
  let upstream: ScriptedUpstream

  before(async () => {
    upstream = await scriptedUpstream()
    upstream.on(() => json(COMPLETION))
    const open = { provider: 'openai-compatible', config: { baseUrl: `${upstream.origin}/v1` } }
    gateway = await startTestGateway({
      routes: {
        chain: [{ plugin: 'auth' }],
        namespaces: {
          sandbox: { provider: 'sandbox' },
          open,
          shared: { ...open, testKeys: 'upstream' },
          acme: { models: { some: { targets: [{ model: 'sandbox/echo' }], fallbacks: ['open/some-model'] } } },
        },
      },
    })
  })

  after(async () => {
    await gateway?.stop()
    await upstream?.close()
  })

  async function send(model: string, size: number, key = gateway.liveKey) {
    const body = sized(model, size)
    const headers = { 'content-type': 'application/json' }
    const reply = await gateway.fetch('/v1/chat/completions', { method: 'POST', body, headers, key })
    const { error } = (await reply.json()) as { error?: { code: string; message: string } }
    return { status: reply.status, code: error?.code, message: error?.message }
  }

  it('of a live key is taken up to 1 MiB, and refused beyond without being parsed', async () => {
    expect(await send('sandbox/echo', LIMIT)).to.include({ status: 200 })
    parsing.reset()
    const { message, ...refused } = await send('sandbox/echo', LIMIT + 1)
    expect(refused).to.deep.equal(TOO_LARGE)
    expect(message).to.include(`${LIMIT} bytes`)
    expect(parsing.longest).to.be.below(1024)
  })

  it('with more than 8,192 objects is refused without being parsed', async () => {
    const messages = Array.from({ length: 8192 }, () => ({ role: 'user', content: '' }))
    const headers = { 'content-type': 'application/json' }
    const body = JSON.stringify({ model: 'sandbox/echo', messages })
    parsing.reset()
    const reply = await gateway.fetch('/v1/chat/completions', { method: 'POST', body, headers })
    expect(reply.status).to.equal(400)
    expect(parsing.longest).to.be.below(1024)
    const { error } = (await reply.json()) as { error: { param: string; message: string } }
    expect(error).to.include({ param: 'messages' })
    expect(error.message).to.include('8,192 objects')
  })

  it('of a test key is refused without being parsed where other models of the same key may have larger ones', async () => {
    expect(await send('open/some-model', LIMIT + 1, gateway.testKey)).to.include(TOO_LARGE)
    expect(parsing.longest).to.be.below(1024)
    expect(await send('shared/some-model', LIMIT + 1, gateway.testKey)).to.include({ status: 200 })
  })

  it('that is too large for it goes to the next target of a curated model', async () => {
    const before = upstream.requests.length
    expect(await send('acme/some', LIMIT + 1)).to.include({ status: 200 })
    expect(upstream.requests.length).to.equal(before + 1)
    expect(await send('acme/some', 1000)).to.include({ status: 200 })
    expect(upstream.requests.length).to.equal(before + 1)
  })
})
