import { EventEmitter, once } from 'node:events'
import type { Server, ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { expect } from 'chai'
import type { GatewayError } from '../../../core/errors.ts'
import { connectionLimit } from '../../../core/http/connection-limit.ts'
import { Connections } from '../../../core/http/connections.ts'
import { listen } from '../../../core/http/listen.ts'
import { createHttpServer } from '../../../core/http/server.ts'
import { RawConnection } from '../../support/raw-connection.ts'
import { itWith } from '../../support/requirements.ts'

const LIMIT = 4
/** Further connections, on which only monitoring is served. */
const BEYOND = 16
/** The most pipelined requests: one that is served, and those that wait. */
const PIPELINED = 101

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: gateway\r\n\r\n`

/** A client's connection and the server's end of it. */
interface Connected {
  readonly client: RawConnection
  readonly server: Socket
}

describe('Client connections', () => {
  let server: Server
  let url: URL
  let clients: RawConnection[]
  let refused: GatewayError[]
  let shed: Record<string, number>
  /** Emits the response to each request whose path has `wait`: the test ends it. */
  let held: EventEmitter
  let served: string[]
  const { now } = performance
  let time: number

  beforeEach(async () => {
    clients = []
    refused = []
    shed = {}
    held = new EventEmitter()
    time = now.call(performance)
    performance.now = () => time
    served = []
    const counter = {
      add(amount: number, reason: string): void {
        shed[reason] = (shed[reason] ?? 0) + amount
      },
    }
    server = createHttpServer(
      ({ url: path = '' }, response) => {
        served.push(path)
        if (path.includes('wait')) held.emit(path, response)
        else response.end(path)
      },
      { connections: new Connections(LIMIT, counter), writeStall: 60_000, onRefused: (_, error) => refused.push(error) },
    )
    url = new URL(await listen(server, { host: '127.0.0.1', port: 0 }))
  })

  afterEach(async () => {
    performance.now = now
    for (const { socket } of clients) socket.destroy()
    server?.closeAllConnections()
    await server?.[Symbol.asyncDispose]()
  })

  /** Connects. Resolves when the server has accepted the connection. */
  async function connected(localAddress = '127.0.0.1'): Promise<Connected> {
    const accepted = once(server, 'connection')
    const client = new RawConnection(connect({ host: url.hostname, port: Number(url.port), localAddress }))
    clients.push(client)
    const [socket] = await accepted
    return { client, server: socket }
  }

  async function expectServed({ client }: Connected, path = '/'): Promise<void> {
    client.write(get(path))
    expect(await client.reply()).to.include({ status: 200, body: path })
  }

  /** Sends a request that the server does not answer before the test does. */
  async function hold({ client }: Connected, path: string): Promise<ServerResponse> {
    const arrived = once(held, path)
    client.write(get(path))
    const [response] = await arrived
    return response
  }

  /** Opens connections one after the other, with a request on each. */
  async function each(count: number, use: (connection: Connected, index: number) => Promise<unknown>): Promise<Connected[]> {
    const all: Connected[] = []
    for (let index = 0; index < count; index++) {
      const connection = await connected()
      await use(connection, index)
      all.push(connection)
    }
    return all
  }

  async function expectClosed(connections: readonly Connected[]): Promise<void> {
    expect(await Promise.all(connections.map(({ client }) => client.closed))).to.deep.equal(connections.map(() => 'fin'))
  }

  itWith('linux', 'are limited by the descriptors that the process may have', async () => {
    expect(connectionLimit()).to.be.within(24, 32_768)
  })

  describe('at their limit', () => {
    it('close the one that has been silent for longest when another comes', async () => {
      const [first, ...others] = await each(LIMIT, () => Promise.resolve())
      const late = await connected()
      await expectClosed([first!])
      for (const connection of [...others, late]) await expectServed(connection)
      expect(shed).to.deep.equal({ connections: 1, pipelining: 0 })
    })

    itWith('linux', 'close one that is slow with its first head before one in use, from whatever address', async () => {
      const used = await each(2, (connection) => expectServed(connection))
      const slow: Connected[] = []
      for (let host = 2; host < 22; host++) {
        const connection = await connected(`127.0.0.${host}`)
        connection.client.write('GET / HTTP/1.1\r\nHost: gat')
        slow.push(connection)
        time += 50
        for (const each of used) await expectServed(each)
      }
      await expectClosed(slow.slice(0, used.length - LIMIT))
    })

    it('close the one that has been without a request for longest', async () => {
      const [first, second, ...others] = await each(LIMIT, (connection) => expectServed(connection))
      await expectServed(first!)
      const late = await connected()
      await expectClosed([second!])
      for (const connection of [first!, ...others, late]) await expectServed(connection)
    })

    it('leave new ones the time to send a request', async () => {
      const used = await each(LIMIT, (connection) => expectServed(connection))
      time += 1000
      const late = await each(LIMIT, async () => {
        time += 10
      })
      await expectClosed(used)
      for (const connection of late) await expectServed(connection)
    })

    it('close none with a request that is served: another may only be monitored', async () => {
      const replies: ServerResponse[] = []
      const busy = await each(LIMIT, async (connection, index) => replies.push(await hold(connection, `/wait/${index}`)))
      const monitoring = await connected()
      for (const path of ['/livez', '/readyz?verbose', '/metrics']) await expectServed(monitoring, path)
      const late = await connected()
      late.client.write(get('/v1/models'))
      const { status, headers, body } = await late.client.reply()
      expect({ status, code: JSON.parse(body).error.code }).to.deep.equal({ status: 503, code: 'gateway_overloaded' })
      expect(headers).to.include({ 'retry-after': '1', connection: 'close' })
      expect(refused.map(({ row }) => row)).to.deep.equal(['gateway_overloaded'])
      await expectClosed([monitoring, late])
      await expectServed(await connected(), '/livez')
      for (const reply of replies) reply.end('late')
      for (const { client } of busy) expect(await client.reply()).to.include({ status: 200, body: 'late' })
      busy[0]!.client.socket.destroy()
      await once(busy[0]!.server, 'close')
      await expectServed(await connected(), '/v1/models')
    })

    it('close another at once when monitoring has taken its places too', async () => {
      await each(LIMIT, (connection, index) => hold(connection, `/wait/${index}`))
      await each(BEYOND, (connection, index) => hold(connection, `/livez?wait=${index}`))
      expect(shed.connections).to.equal(0)
      await expectClosed([await connected()])
      expect(shed.connections).to.equal(1)
    })

    it('have a place again when a client leaves', async () => {
      for (let count = 0; count < 3 * LIMIT; count++) {
        const connection = await connected()
        await expectServed(connection)
        connection.client.socket.destroy()
        await once(connection.server, 'close')
      }
      expect(shed.connections).to.equal(0)
    })

    itWith('linux', 'close those of an address that has more than its share', async () => {
      const modest = await connected('127.0.0.2')
      await expectServed(modest)
      const greedy = await each(5 * LIMIT, (connection) => expectServed(connection))
      await expectClosed(greedy.slice(0, 1 - LIMIT))
      await expectServed(modest)
    })
  })

  it('close after a thousand requests, as the last reply says', async () => {
    const { client } = await connected()
    for (let count = 1; count < 1000; count++) {
      client.write(get('/'))
      expect((await client.reply()).headers.connection).to.equal('keep-alive')
    }
    client.write(get('/'))
    expect((await client.reply()).headers.connection).to.equal('close')
    expect(await client.closed).to.equal('fin')
  })

  describe('with pipelined requests', () => {
    it('serve them one after the other', async () => {
      const connection = await connected()
      connection.client.write(get('/1') + get('/wait/2') + get('/3') + get('/wait/4'))
      const [second] = (await once(held, '/wait/2')) as [ServerResponse]
      expect(served).to.deep.equal(['/1', '/wait/2'])
      second.end('2')
      const [fourth] = (await once(held, '/wait/4')) as [ServerResponse]
      fourth.end('4')
      const bodies = [1, 2, 3, 4].map(async () => (await connection.client.reply()).body)
      expect(await Promise.all(bodies)).to.deep.equal(['/1', '2', '/3', '4'])
    })

    it('close if too many wait', async () => {
      const { client } = await connected()
      client.write(get('/wait'))
      await once(held, '/wait')
      client.write(get('/').repeat(PIPELINED))
      expect(await client.closed).to.be.oneOf(['fin', 'ECONNRESET'])
      expect(served).to.deep.equal(['/wait'])
      expect(shed).to.deep.equal({ connections: 0, pipelining: 1 })
    })

    it('may have a hundred that wait', async () => {
      const connection = await connected()
      const first = await hold(connection, '/wait')
      connection.client.write(get('/').repeat(PIPELINED - 1))
      first.end('/wait')
      for (let count = 0; count < PIPELINED; count++) expect((await connection.client.reply()).status).to.equal(200)
    })

    it('are not idle while one waits', async () => {
      const waiting = await connected()
      const first = await hold(waiting, '/wait')
      waiting.client.write(get('/late'))
      await each(3 * LIMIT, (connection) => expectServed(connection))
      first.end('/wait')
      expect(await waiting.client.reply()).to.include({ body: '/wait' })
      expect(await waiting.client.reply()).to.include({ body: '/late' })
    })
  })
})
