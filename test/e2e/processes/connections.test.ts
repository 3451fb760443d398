import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect } from 'chai'
import { Cluster } from './cluster.ts'

/** As many clients as connect again at once when a balancer or a network has failed. */
const CLIENTS = 1_500

describe('connections to a gateway of several processes', () => {
  it('wait while all proxies are busy: none is reset', async () => {
    const gateway = await Cluster.start()
    try {
      const proxies = [...gateway.pids].flatMap(([place, pid]) => (place === 'control' ? [] : [pid]))
      for (const pid of proxies) process.kill(pid, 'SIGSTOP')
      const replies = await Promise.all(Array.from({ length: CLIENTS }, () => begin(gateway)))
      for (const pid of proxies) process.kill(pid, 'SIGCONT')
      const answered = (await Promise.all(replies.map((reply) => reply()))).filter((reply) => reply.startsWith('HTTP/1.1 200 '))
      expect(answered).to.have.length(CLIENTS)
    } finally {
      await gateway.stop()
    }
  })
})

/** Sends a request on a connection of its own. Resolves when it is connected, to the reply: empty if the connection is reset. */
async function begin({ url }: Cluster): Promise<() => Promise<string>> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  const reply = text(socket).catch(() => '')
  await once(socket, 'connect')
  socket.write('GET /livez HTTP/1.1\r\nhost: gateway\r\nconnection: close\r\n\r\n')
  return () => reply
}
