import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'

/**
 * An origin on which nothing listens. Its port belongs to the client's end of a connection as long as this process runs: a port that
 * was closed could be given to a server of another test process.
 */
export async function closedOrigin(): Promise<string> {
  const server = createServer((socket) => socket.unref()).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
  await once(client, 'connect')
  client.unref()
  server.close()
  return `http://127.0.0.1:${client.localPort}`
}
