import { once } from 'node:events'
import type { Server } from 'node:http'
import { connect, type Socket } from 'node:net'
import { expect } from 'chai'
import type { GatewayError } from '../../../core/errors.ts'

import { Connections } from '../../../core/http/connections.ts'
import { listen } from '../../../core/http/listen.ts'
import { createHttpServer } from '../../../core/http/server.ts'

import { expectError } from '../../e2e/client-faults/fixture.ts'
import { type RawConnection, rawConnection } from '../../support/raw-connection.ts'

const TIMEOUT = { status: 408, code: 'request_timeout', headers: { connection: 'close' } }
/** Far more than the buffers of two sockets hold. */
const LARGE = Buffer.alloc(64 << 20, 'x')
const HEAD = 'Host: gateway\r\nContent-Length: 99\r\n\r\n'

describe('the HTTP server', () => {
  let server: Server
  let url: string
  let refused: { readonly id: string; readonly error: GatewayError }[]

  beforeEach(async () => {
    refused = []
    server = createHttpServer(
      (request, response) => {
        response.setHeader('x-request-id', `req_${'0'.repeat(32)}`)
        if (request.url === '/refused') response.end('No.')
        if (request.url === '/large') response.end(LARGE)
        if (request.url === '/late') server.once('timeout', () => response.end('late'))
      },
      {
        connections: new Connections(Number.POSITIVE_INFINITY, { add: () => undefined }),
        writeStall: 0,
        onRefused: (id, error) => refused.push({ id, error }),
      },
    )
    url = await listen(server, { host: '127.0.0.1', port: 0 })
  })

  afterEach(async () => {
    server?.closeAllConnections()
    await server?.[Symbol.asyncDispose]()
  })

  async function send(bytes: string): Promise<RawConnection> {
    const connection = await rawConnection(url)
    connection.write(bytes)
    return connection
  }

  it('waits 15 seconds for a head, 60 for a request, and longer than load balancers for the next request', () => {
    expect(server).to.include({ headersTimeout: 15_000, requestTimeout: 60_000, maxHeadersCount: 128 })
    expect(server.keepAliveTimeout).to.be.above(60_000)
  })

  it('closes a connection that it has refused, although the client does not', async () => {
    const accepted = once(server, 'connection')
    const connection = await rawConnection(url, true)
    const [socket] = await accepted
    const closed = once(socket, 'close')
    connection.write('\0\r\n\r\n')
    expectError(await connection.reply(), { status: 400, code: 'malformed_http' })
    await closed
    connection.socket.destroy()
  })

  it('serves a reply that is later than a client may pause', async () => {
    server.timeout = 1
    const connection = await send('GET /late HTTP/1.1\r\nHost: gateway\r\n\r\n')
    expect(await connection.reply()).to.include({ status: 200, body: 'late' })
  })

  it('closes a connection that is not used again', async () => {
    server.keepAliveTimeout = 1
    server.keepAliveTimeoutBuffer = 0
    const connection = await send('GET /refused HTTP/1.1\r\nHost: gateway\r\n\r\n')
    expect((await connection.reply()).status).to.equal(200)
    expect(await connection.closed).to.equal('fin')
  })

  describe('with a reply that its client', () => {
    async function sendLarge(stall: number) {
      server.timeout = stall
      const accepted = once(server, 'connection')
      const client = connect(Number(new URL(url).port), '127.0.0.1').pause()
      client.write('GET /large HTTP/1.1\r\nHost: gateway\r\n\r\n')
      const [socket] = (await accepted) as [Socket]
      return { client, closed: once(socket, 'close') }
    }

    it('does not read disconnects it', async () => {
      const { client, closed } = await sendLarge(10)
      await closed
      client.destroy()
    })

    /** How long a client may pause, in milliseconds. */
    const STALL = 200

    /** Reads the large reply in three times STALL. A pause of this process, on a busy machine, is one of its client as well. */
    async function readSlowly(): Promise<{ readonly size: number; readonly longestPause: number }> {
      const { client } = await sendLarge(STALL)
      const closed = once(client, 'close').then(() => 'closed')
      const startedAt = performance.now()
      let lookedAt = startedAt
      let longestPause = 0
      let size = 0
      const look = () => {
        longestPause = Math.max(longestPause, performance.now() - lookedAt)
        lookedAt = performance.now()
      }
      while (size < LARGE.length) {
        const piece = client.read() as Buffer | null
        look()
        size += piece?.length ?? 0
        if (piece === null && (await Promise.race([once(client, 'readable'), closed])) === 'closed') break
        // Its own pace: round trips after each piece, so that all of them take longer than a client may pause.
        const due = startedAt + 3 * STALL * (size / LARGE.length)
        while (performance.now() < due) {
          await (await fetch(`${url}/refused`)).text()
          look()
        }
      }
      client.destroy()
      return { size, longestPause }
    }

    it('reads slowly waits for it', async () => {
      let read = await readSlowly()
      while (read.size < LARGE.length && read.longestPause >= STALL / 2) read = await readSlowly()
      expect(read.size).to.be.at.least(LARGE.length)
    })
  })

  describe('after its time limits', () => {
    beforeEach(() => {
      server.headersTimeout = 1
      server.requestTimeout = 1
    })

    it('sends an error to slow and silent clients, and closes their connections', async () => {
      const [silent, slowHead, slowBody, unwanted] = await Promise.all([
        send(''),
        send('POST / HTTP/1.1\r\nHost: gat'),
        send(`POST / HTTP/1.1\r\n${HEAD}{"model"`),
        send(`POST /refused HTTP/1.1\r\n${HEAD}{"model"`),
      ])
      const ids: string[] = []
      for (const connection of [silent, slowHead]) {
        const reply = await connection.reply()
        expectError(reply, TIMEOUT)
        ids.push(reply.headers['x-request-id']!)
      }
      expect(refused.map(({ id }) => id)).to.have.members(ids)
      expect(refused.map(({ error }) => error.row)).to.deep.equal(['request_timeout', 'request_timeout'])

      // This request had an id already, and whoever serves it tells of it.
      const reply = await slowBody.reply()
      expectError(reply, TIMEOUT)
      expect(reply.headers['x-request-id']).to.equal(`req_${'0'.repeat(32)}`)

      // A second reply to one request would be taken for that of the next.
      expect(await unwanted.reply()).to.include({ status: 200, body: 'No.' })
      for (const connection of [silent, slowHead, slowBody, unwanted]) {
        await connection.closed
        expect(connection.rest).to.equal('')
      }
    })
  })
})
