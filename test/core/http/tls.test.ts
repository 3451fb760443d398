import { once } from 'node:events'
import type { Server } from 'node:http'
import { connect } from 'node:net'
import { expect } from 'chai'
import { Connections } from '../../../core/http/connections.ts'
import { listen } from '../../../core/http/listen.ts'
import { createHttpServer } from '../../../core/http/server.ts'
import { TlsTermination } from '../../../core/http/tls.ts'
import { selfSigned } from '../../support/certificate.ts'

describe('the HTTP server with TLS', () => {
  let server: Server
  let port: number
  let refusals: number

  beforeEach(async () => {
    refusals = 0
    const tls = new TlsTermination()
    tls.use(selfSigned({ name: 'localhost' }))
    server = createHttpServer((_, response) => response.end('Hello'), {
      connections: new Connections(1, { add: () => undefined }),
      writeStall: 0,
      tls,
      onRefused: () => {
        refusals++
      },
    })
    port = Number(new URL(await listen(server, { host: '127.0.0.1', port: 0 })).port)
  })
  afterEach(async () => {
    server?.closeAllConnections()
    await server?.[Symbol.asyncDispose]()
  })

  it('disconnects a client that does not end the handshake in the time for a head', async () => {
    server.headersTimeout = 1
    server.requestTimeout = 1
    const socket = connect(port, '127.0.0.1').resume()
    await once(socket, 'close')
    expect(socket.bytesRead).to.equal(0)
    expect(refusals).to.equal(0)
  })

  it('counts a connection before its handshake: at the limit the oldest one is closed', async () => {
    const first = connect(port, '127.0.0.1').resume()
    await once(first, 'connect')
    const second = connect(port, '127.0.0.1').resume()
    await once(first, 'close')
    second.destroy()
  })
})
