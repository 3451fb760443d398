import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { expect } from 'chai'
import { LinkedList } from '../../../core/async/linked-list.ts'
import type { AppServices } from '../../../core/http/app.ts'
import { listen } from '../../../core/http/listen.ts'
import { openListeners } from '../../../core/http/server.ts'
import { Metrics } from '../../../core/observe/metrics.ts'

describe('The listeners of a process', () => {
  it('stop although a client resets its connection, which another process accepted', async () => {
    const began = Promise.withResolvers<void>()
    const neverReplies = () => {
      began.resolve()
      return new Promise<void>(() => undefined)
    }
    const services = {
      settlement: { settle: () => undefined, refused: () => undefined },
      metrics: new Metrics(),
      shed: { add: () => undefined },
      admission: {},
      open: new LinkedList(),
      lifecycle: { phase: 'serving' },
      writeStall: 60_000,
    } as unknown as AppServices
    const paths = { clients: [neverReplies], operators: [] }
    const listeners = await openListeners(services, paths, { listen: { host: '127.0.0.1', port: 0 } })
    const acceptor = createServer((socket) => listeners.accept('clients', socket))
    const { port } = new URL(await listen(acceptor, { host: '127.0.0.1', port: 0 }))
    const accepted = once(acceptor, 'connection')
    const client = connect(Number(port), '127.0.0.1')
    client.write('GET / HTTP/1.1\r\nHost: gateway\r\n\r\n')
    const [socket] = (await accepted) as [Socket]
    acceptor.close()
    await began.promise
    const failed = once(socket, 'error')
    const stopped = listeners.stop(60_000)
    client.resetAndDestroy()
    await stopped
    expect((await failed)[0]).to.have.property('code', 'ECONNRESET')
  })
})
