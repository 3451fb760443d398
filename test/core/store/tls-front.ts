import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { createSecureContext, TLSSocket } from 'node:tls'
import type { Certificate } from '../../support/certificate.ts'

/** The answer of a server to a client that asks for TLS (https://www.postgresql.org/docs/current/protocol-message-formats.html). */
const YES = 'S'
/** The length of that question, in bytes. */
const QUESTION = 8

/** A PostgreSQL server with TLS. */
export interface TlsFront {
  /** Its URL on `127.0.0.1`, with these parameters. */
  url(parameters: Readonly<Record<string, string>>): string
  /** The certificates that clients have shown, by their common names; empty: none. */
  readonly clients: readonly string[]
  close(): Promise<void>
}

/** Puts TLS in front of the server of a URL. It asks for a certificate of its clients, and does not require it. */
export async function tlsFront(target: string, certificate: Certificate): Promise<TlsFront> {
  const secureContext = createSecureContext(certificate)
  const sockets = new Set<Socket>()
  const clients: string[] = []
  const server = createServer(async (near) => {
    sockets.add(near)
    near.on('error', () => undefined)
    await once(near, 'readable')
    if (near.read(QUESTION) === null) return
    near.write(YES)
    const secure = new TLSSocket(near, { isServer: true, secureContext, requestCert: true, rejectUnauthorized: false })
    const { hostname, port } = new URL(target)
    const far = connect(Number(port), hostname)
    sockets.add(far)
    secure.once('data', () => clients.push(String(secure.getPeerCertificate()?.subject?.CN ?? '')))
    for (const [from, to] of [
      [secure, far],
      [far, secure],
    ] as const)
      from.on('error', () => undefined).on('close', () => to.destroy())
    secure.pipe(far).pipe(secure)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  return {
    clients,
    url(parameters) {
      const url = new URL(target)
      url.host = `127.0.0.1:${port}`
      for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
      return url.href
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      await once(server.close(), 'close')
    },
  }
}
