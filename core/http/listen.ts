import { rmSync } from 'node:fs'
import type { AddressInfo, Server } from 'node:net'

/** Which listener accepted a connection. */
export type ListenerName = 'clients' | 'operators'

/** An address to bind. */
export interface Listen {
  readonly host: string
  /** 0: any free. */
  readonly port: number
}

/** A Unix socket to bind. */
export interface ListenPath {
  readonly path: string
}

/** Starts listening. Resolves to the base URL, `http://127.0.0.1:8080`, or to the path of the Unix socket. */
export async function listen(
  server: Pick<Server, 'listen' | 'address' | 'once' | 'off'>,
  to: Listen | ListenPath,
): Promise<string> {
  // A process that was killed leaves its socket behind.
  if ('path' in to) rmSync(to.path, { force: true })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(to, () => {
      server.off('error', reject)
      resolve()
    })
  })
  const address = server.address() as AddressInfo | string
  if (typeof address === 'string') return address
  return `http://${address.family === 'IPv6' ? `[${address.address}]` : address.address}:${address.port}`
}
