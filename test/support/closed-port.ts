import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'

/** An origin on which nothing listens: its port has just been closed. */
export async function closedOrigin(): Promise<string> {
  const server = createServer()
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return `http://127.0.0.1:${port}`
}
