import { once } from 'node:events'
import { createServer as createHttpsServer } from 'node:https'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { selfSigned } from '../support/certificate.ts'
import { dnsServer, type Zone } from '../support/dns-server.ts'

/** Names and ports at which no upstream can be reached. */
export interface Unreachable extends AsyncDisposable {
  /** `127.0.0.1:12345`. It knows the names below, and `lively.test`, which is loopback. */
  readonly nameServer: string
  /** Accepts connections and says nothing. */
  readonly silentTls: string
  /** Has a certificate that nobody signed. */
  readonly untrustedTls: string
}

/** How many names there are of each kind: `silent-0.test`, `failing-0.test`, `missing-0.test`. */
export const NAMES = 10

/** Starts a name server and servers whose TLS fails. */
export async function startUnreachable(): Promise<Unreachable> {
  await using opened = new AsyncDisposableStack()
  const zones = Array.from({ length: NAMES }, (_, index): [string, Zone][] => [
    [`silent-${index}.test`, { silent: 'both' }],
    [`failing-${index}.test`, { failure: 'SERVFAIL' }],
  ])
  const lively = { addresses: ['127.0.0.1'], ttl: 1 }
  const names = opened.adopt(await dnsServer({ 'lively.test': lively, ...Object.fromEntries(zones.flat()) }), (server) =>
    server.close(),
  )
  const sockets = new Set<Socket>()
  opened.defer(() => {
    for (const socket of sockets) socket.destroy()
  })
  const listening = async (server: Server): Promise<string> => {
    server.on('connection', (socket: Socket) =>
      sockets.add(socket.on('error', () => {}).once('close', () => sockets.delete(socket))),
    )
    await once(server.listen(0, '127.0.0.1'), 'listening')
    opened.defer(() => void server.close())
    return `https://localhost:${(server.address() as AddressInfo).port}`
  }
  const silentTls = await listening(createServer())
  const untrustedTls = await listening(createHttpsServer(selfSigned({ name: 'localhost' })))
  const moved = opened.move()
  return { nameServer: names.address, silentTls, untrustedTls, [Symbol.asyncDispose]: () => moved.disposeAsync() }
}
