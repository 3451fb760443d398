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

/** What clients speak to a listener. */
export type Scheme = 'http' | 'https'

/** Starts listening. Resolves to the base URL, `http://127.0.0.1:8080`, or to the path of the Unix socket. */
export async function listen(
  server: Pick<Server, 'listen' | 'address' | 'once' | 'off'>,
  to: Listen | ListenPath,
  scheme: Scheme = 'http',
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
  return `${scheme}://${address.family === 'IPv6' ? `[${address.address}]` : address.address}:${address.port}`
}

/** The address by which this machine reaches a listener on all of its addresses: `http://127.0.0.1:8080` for `http://0.0.0.0:8080`. */
export const reachable = (url: string): string => url.replace(/^(https?:\/\/)(?:0\.0\.0\.0|\[::\])(?=:|$)/, '$1127.0.0.1')

/** Whether only this machine reaches a host: an address, also as in a URL, or `localhost`. */
export const isLoopback = (host: string): boolean => /^(?:localhost|127\.\d+\.\d+\.\d+|\[?::1\]?)$/i.test(host)
