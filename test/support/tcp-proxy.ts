import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A TCP proxy to a server, which can simulate that the server is unavailable. */
export interface TcpProxy {
  /** The server's URL with the proxy's address. */
  readonly url: string
  /** Breaks all connections, and resets new ones. The port stays open: it could be given to another process. */
  disconnect(): void
  /** Forwards new connections again. */
  reconnect(): void
  /** Accepts connections and bytes, and forwards none, until `disconnect`. */
  freeze(): void
  close(): Promise<void>
}

/** Starts a proxy to the server of a URL on a free port. `onReply`: gets the bytes that the server sends. */
export async function startTcpProxy(url: string, onReply?: (bytes: Buffer) => void): Promise<TcpProxy> {
  const { hostname, port } = new URL(url)
  const sockets = new Set<Socket>()
  let isFrozen = false
  let isConnected = true
  const server = createServer((near) => {
    if (!isConnected) {
      near.resetAndDestroy()
      return
    }
    const far = connect(Number(port), hostname)
    if (onReply !== undefined) far.on('data', onReply)
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
      if (!isFrozen) from.pipe(to)
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const here = server.address() as AddressInfo
  const proxied = new URL(url)
  proxied.host = `127.0.0.1:${here.port}`
  function disconnect(): void {
    isConnected = false
    isFrozen = false
    for (const socket of sockets) socket.destroy()
  }
  return {
    url: proxied.href,
    disconnect,
    reconnect() {
      isConnected = true
    },
    async close() {
      disconnect()
      server.close()
      await once(server, 'close')
    },
    freeze() {
      isFrozen = true
      for (const socket of sockets) socket.unpipe()
    },
  }
}
