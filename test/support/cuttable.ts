import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A way to a server that can be cut, as when it goes down, and mended. */
export interface Cuttable {
  /** The same URL, by this way. */
  readonly url: string
  /** Breaks all connections, and refuses new ones. */
  cut(): Promise<void>
  mend(): Promise<void>
}

/** Opens a way to the server of a URL on a port of its own. */
export async function cuttable(url: string): Promise<Cuttable> {
  const { hostname, port } = new URL(url)
  const sockets = new Set<Socket>()
  const server = createServer((near) => {
    const far = connect(Number(port), hostname)
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from)
      from.on('error', () => {})
      from.on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
      from.pipe(to)
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const here = server.address() as AddressInfo
  const way = new URL(url)
  way.host = `127.0.0.1:${here.port}`
  return {
    url: way.href,
    async cut() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
    async mend() {
      server.listen(here.port, '127.0.0.1')
      await once(server, 'listening')
    },
  }
}
