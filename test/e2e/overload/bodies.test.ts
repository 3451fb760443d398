import { expect } from 'chai'
import { hold, json } from '../../../core/testing/kit.ts'
import type { RawConnection, WireReply } from '../../support/raw-connection.ts'
import { COMPLETION, type Fixture, GOOD_BODY, startFixture } from '../client-faults/fixture.ts'

/** Bytes of memory for all bodies. One of a quarter is the largest, and one key may have half. */
const MEMORY = 4 << 20
const LARGEST = MEMORY / 4

/** A body of so many bytes. */
const sized = (size: number): string => GOOD_BODY.replace('Hi', 'x'.repeat(size - GOOD_BODY.length + 2))

const LARGE = sized(LARGEST)

describe('When there is no memory for more bodies', () => {
  let fixture: Fixture
  let open: RawConnection[]
  let otherKey: string

  beforeEach(async () => {
    fixture = await startFixture({ admission: { bodies: MEMORY } })
    open = []
    otherKey = await fixture.gateway.key()
  })

  afterEach(async () => {
    for (const { socket } of open) socket.destroy()
    await fixture?.stop()
  })

  async function connect(): Promise<RawConnection> {
    const connection = await fixture.connect()
    open.push(connection)
    return connection
  }

  const callOf = (body: string, key = fixture.gateway.liveKey): Buffer =>
    fixture.call({ body, lines: [`Authorization: Bearer ${key}`] })

  /** Begins a call without the last byte of its body. Resolves when the gateway has asked for the body. */
  async function begin(body = LARGE, key?: string): Promise<RawConnection> {
    const connection = await connect()
    const call = fixture.call({
      body: body.slice(0, -1),
      lines: [
        `Authorization: Bearer ${key ?? fixture.gateway.liveKey}`,
        `Content-Length: ${body.length}`,
        'Expect: 100-continue',
      ],
    })
    connection.write(call)
    expect((await connection.reply()).status).to.equal(100)
    return connection
  }

  async function send(body: string, key?: string): Promise<WireReply> {
    const connection = await connect()
    connection.write(callOf(body, key))
    return connection.reply()
  }

  function expectOverloaded({ status, headers, body }: WireReply): void {
    expect([status, JSON.parse(body).error.code], body).to.deep.equal([503, 'gateway_overloaded'])
    expect(headers).to.include({ 'retry-after': '1' })
  }

  it('a call of the key that has it is refused before its body is read', async () => {
    await begin()
    await begin()
    const connection = await connect()
    const call = callOf(LARGE)
    connection.write(call.subarray(0, call.indexOf('\r\n\r\n') + 4))
    expectOverloaded(await connection.reply())
    expect(await fixture.gateway.metric('umg_shed_total', { reason: 'bodies' })).to.equal(1)
  })

  it('calls of other keys are served, and so are probes and the console', async () => {
    await begin()
    await begin()
    expect(await send(LARGE, otherKey)).to.include({ status: 200 })
    expect(await send(GOOD_BODY, otherKey)).to.include({ status: 200 })
    for (const path of ['/livez', '/readyz', '/console']) expect((await fixture.gateway.fetch(path)).status, path).to.equal(200)
  })

  it('small calls of the same key are served while it has less than half', async () => {
    await begin()
    await begin(sized(LARGEST - 10_000))
    expectOverloaded(await send(LARGE))
    expect(await send(GOOD_BODY)).to.include({ status: 200 })
  })

  it('a call is served once others have ended, whatever their end', async () => {
    const leaving = await begin()
    const finishing = await begin()
    finishing.write(LARGE.slice(-1))
    expect(await finishing.reply()).to.include({ status: 200 })
    leaving.socket.destroy()
    await fixture.gateway.logged(({ outcome }) => outcome === 'client_closed')
    await begin()
    await begin()
  })

  it('a call that waits for its upstream counts, and one that has ended on an open connection does not', async () => {
    const waiting = hold()
    const received = fixture.upstream.reply([waiting, ...json(COMPLETION)])
    const first = await connect()
    first.write(callOf(LARGE))
    await received
    await begin()
    expectOverloaded(await send(LARGE))
    waiting.release()
    expect(await first.reply()).to.include({ status: 200 })
    expect(await send(LARGE)).to.include({ status: 200 })
  })

  it('a body without a length counts as it arrives', async () => {
    await begin()
    const connection = await connect()
    const head = fixture.call({ body: '', framing: 'none', lines: ['Transfer-Encoding: chunked'] })
    connection.write(Buffer.concat([head, Buffer.from(`${LARGEST.toString(16)}\r\n${LARGE}\r\n`)]))
    const second = await connect()
    second.write(Buffer.concat([head, Buffer.from(`${LARGEST.toString(16)}\r\n${LARGE}\r\n`)]))
    expectOverloaded(await Promise.race([connection.reply(), second.reply()]))
  })

  it('the connection of a refused call goes on, once its body has been sent', async () => {
    const others = [await begin(), await begin()]
    const connection = await connect()
    connection.write(callOf(LARGE).subarray(0, -1))
    expectOverloaded(await connection.reply())
    for (const { socket } of others) socket.destroy()
    connection.write(LARGE.slice(-1))
    connection.write(callOf(GOOD_BODY, otherKey))
    expect(await connection.reply()).to.include({ status: 200 })
  })

  it('a body beyond a quarter of the memory is refused as too large', async () => {
    const { status, body } = await send(sized(LARGEST + 1))
    expect([status, JSON.parse(body).error.message]).to.deep.equal([
      413,
      `The request body is larger than the limit of ${LARGEST} bytes.`,
    ])
  })
})
