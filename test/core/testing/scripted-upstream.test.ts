import { setImmediate as turn } from 'node:timers/promises'
import { expect } from 'chai'
import {
  FIN,
  head,
  hold,
  json,
  RST,
  type ScriptedUpstream,
  type Step,
  scriptedUpstream,
} from 'unified-model-gateway/plugin/testing'
import { GET, rawClient } from './raw-client.ts'

describe('The scripted upstream', () => {
  let upstream: ScriptedUpstream

  beforeEach(async () => {
    upstream = await scriptedUpstream()
  })

  afterEach(() => upstream?.close())

  it('sends exactly the bytes of the script, HTTP or not', async () => {
    upstream.reply(['HTTP/1.1 099 \0garbage\n', Buffer.from([0xff, 0xfe, 0x0d]), FIN])
    const client = await rawClient(upstream.origin)
    client.socket.write(GET)
    expect(await client.end).to.equal('fin')
    expect(client.received).to.equal('HTTP/1.1 099 \0garbage\n\xff\xfe\r')
  })

  it('sends every step in a separate write', async () => {
    const steps = ['a', 'bc', 'd'.repeat(1000), 'e']
    upstream.reply([...steps, FIN])
    const client = await rawClient(upstream.origin)
    client.socket.write(GET)
    await client.end
    expect(client.reads).to.deep.equal(steps)
  })

  it('records a request as it was sent', async () => {
    const asked = upstream.reply(json({}))
    const client = await rawClient(upstream.origin)
    client.socket.write(
      'POST /v1/x?y=%2F HTTP/1.1\r\nHost: Up\r\nX-Two: 1\r\nx-two: 2\r\n__proto__: p\r\nContent-Length: 8\r\n\r\n{"a":',
    )
    client.socket.write('17}')
    const request = await asked
    expect(request.method).to.equal('POST')
    expect(request.path).to.equal('/v1/x?y=%2F')
    expect(request.rawHeaders.slice(0, 3)).to.deep.equal([
      ['Host', 'Up'],
      ['X-Two', '1'],
      ['x-two', '2'],
    ])
    expect(request.headers['x-two']).to.equal('1, 2')
    expect(Object.entries(request.headers)).to.deep.include(['__proto__', 'p'])
    expect(request.json()).to.deep.equal({ a: 17 })
    client.socket.destroy()
  })

  it('reads a chunked request body and skips its trailers', async () => {
    const asked = upstream.reply(json({}))
    const client = await rawClient(upstream.origin)
    client.socket.write('POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nA\r\n0123456789\r\n0\r\nx: y\r\n\r\n')
    expect(String((await asked).body)).to.equal('abc0123456789')
    client.socket.destroy()
  })

  it('answers by the replies in order, then by the handler', async () => {
    upstream.on(({ path }) => json({ handled: path }))
    upstream.reply(json({ reply: 1 }))
    upstream.reply(json({ reply: 2 }))
    const bodies = []
    for (const path of ['/a', '/b', '/c']) bodies.push(await (await fetch(upstream.origin + path)).json())
    expect(bodies).to.deep.equal([{ reply: 1 }, { reply: 2 }, { handled: '/c' }])
    expect(upstream.requests.map(({ path }) => path)).to.deep.equal(['/a', '/b', '/c'])
  })

  it('answers a request without a scripted reply with an explanation', async () => {
    const response = await fetch(`${upstream.origin}/v1/models`)
    expect(response.status).to.equal(500)
    expect(await response.text()).to.include('no reply is scripted for GET /v1/models: call upstream.reply')
  })

  describe('keeps a connection open', () => {
    it('for further requests, pipelined ones included', async () => {
      upstream.on(({ connection, turn }) => [`${connection}.${turn};`])
      const client = await rawClient(upstream.origin)
      client.socket.write(GET + GET)
      await client.receives(8)
      client.socket.write(GET)
      await client.receives(12)
      expect(client.received).to.equal('1.1;1.2;1.3;')
      expect(upstream.connectionsAccepted).to.equal(1)
      client.socket.destroy()
    })

    it('until a script resets it when it is reused', async () => {
      upstream.on(({ turn }) => (turn === 1 ? json({ ok: true }) : [RST]))
      const client = await rawClient(upstream.origin)
      client.socket.write(GET)
      await client.receives(1)
      client.socket.write(GET)
      expect(await client.end).to.equal('ECONNRESET')
    })

    it('until a script closes it after a whole reply', async () => {
      const idle = hold()
      upstream.reply([...json({ ok: true }), idle, FIN])
      const client = await rawClient(upstream.origin)
      client.socket.write(GET)
      await idle.reached
      expect(client.received).to.match(/\{"ok":true\}$/)
      idle.release()
      expect(await client.end).to.equal('fin')
    })
  })

  it('resets a connection after the client has received all bytes before the reset', async () => {
    upstream.reply([head(200, { 'content-length': '5' }), 'par', RST])
    const client = await rawClient(upstream.origin)
    client.socket.write(GET)
    expect(await client.end).to.equal('ECONNRESET')
    expect(client.received).to.equal('HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\npar')
  })

  it('waits at a hold until the test releases it', async () => {
    const stalled = hold()
    upstream.reply(['before', stalled, 'after', FIN])
    const client = await rawClient(upstream.origin)
    client.socket.write(GET)
    await stalled.reached
    expect(client.received).to.equal('before')
    stalled.release()
    await client.end
    expect(client.received).to.equal('beforeafter')
  })

  it('reports a client that disconnects in the middle of a reply', async () => {
    const stalled = hold()
    const asked = upstream.reply([head(200), stalled])
    const client = await rawClient(upstream.origin)
    client.socket.write(GET)
    const request = await asked
    await stalled.reached
    expect(upstream.connectionsOpen).to.equal(1)
    client.socket.destroy()
    await request.closed
    expect(upstream.connectionsOpen).to.equal(0)
  })

  describe('stops a script when the client disconnects', () => {
    const ended = (): { readonly promise: Promise<void>; script(step: () => Step): Generator<Step> } => {
      const { promise, resolve } = Promise.withResolvers<void>()
      return {
        promise,
        *script(step) {
          try {
            for (;;) yield step()
          } finally {
            resolve()
          }
        },
      }
    }

    it('in an endless script', async () => {
      const { promise, script } = ended()
      upstream.reply(script(() => '.'))
      const client = await rawClient(upstream.origin)
      client.socket.write(GET)
      await client.receives(10)
      client.socket.destroy()
      await promise
    })

    it('at a hold', async () => {
      const { promise, script } = ended()
      const stalled = hold()
      upstream.reply(script(() => stalled))
      const client = await rawClient(upstream.origin)
      client.socket.write(GET)
      await stalled.reached
      client.socket.destroy()
      await promise
    })
  })

  it('refuses connections after close, and closes those that are open', async () => {
    const client = await rawClient(upstream.origin)
    await upstream.close()
    expect(await client.end).to.be.oneOf(['fin', 'ECONNRESET'])
    expect(await rawClient(upstream.origin).catch((error) => error.code)).to.equal('ECONNREFUSED')
  })
})

describe('A scripted upstream that does not read bodies', () => {
  let upstream: ScriptedUpstream

  beforeEach(async () => {
    upstream = await scriptedUpstream({ readBody: false })
  })

  afterEach(() => upstream?.close())

  it('replies while the client is still sending', async () => {
    const answered = hold()
    const asked = upstream.reply([...json({ error: 'too large' }, { status: 413 }), answered])
    const client = await rawClient(upstream.origin)
    // More than the buffers of the two sockets hold.
    const megabytes = 64
    let sent = 0
    const send = (): unknown => client.socket.write(Buffer.alloc(1_000_000), () => ++sent < megabytes && send())
    client.socket.write(`POST / HTTP/1.1\r\nContent-Length: ${megabytes}000000\r\n\r\n`)
    send()
    const request = await asked
    await answered.reached
    await client.receives(1)
    expect(client.received).to.match(/^HTTP\/1.1 413 /)
    for (let before = -1; before < sent; ) {
      before = sent
      for (let turns = 0; turns < 100; turns++) await turn()
    }
    expect(sent).to.be.below(megabytes)
    expect(request.body).to.have.length(0)
    answered.release()
    await request.closed
    expect(await client.end).to.equal('fin')
  })
})

describe('Closing a scripted upstream throws', () => {
  it('the error of a handler', async () => {
    const upstream = await scriptedUpstream()
    upstream.on(() => {
      throw new Error('the handler is wrong')
    })
    await fetch(upstream.origin).catch(() => {})
    expect(await upstream.close().catch((error) => error.message)).to.equal('the handler is wrong')
  })

  for (const bytes of [
    'BREW  HTTP/9\r\n\r\n',
    'POST / HTTP/1.1\r\nno colon\r\n\r\n',
    'POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n',
  ]) {
    it(`an error for a request that is not HTTP/1.1: ${JSON.stringify(bytes)}`, async () => {
      const upstream = await scriptedUpstream()
      const client = await rawClient(upstream.origin)
      client.socket.write(bytes)
      await client.end
      expect(await upstream.close().catch((error) => error.message)).to.include('a line that is not HTTP/1.1')
    })
  }
})
