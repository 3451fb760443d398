import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSecureContext, TLSSocket } from 'node:tls'
import { type ReceivedRequest, type RequestHandler, type ScriptedUpstream, scriptedUpstream } from '../../core/testing/kit.ts'
import { selfSigned } from './certificate.ts'

/**
 * The vendors' real addresses, behind a proxy on loopback: a gateway in a process of its own, with no setting but the two variables that
 * operators behind a proxy set, meets scripted upstreams under the names `api.openai.com`, `api.anthropic.com` and so on. A name that is not
 * scripted is refused, and `close` throws an Error with it.
 */
export class VendorNetwork {
  /** The variables of the gateway's process. */
  readonly env: { readonly HTTPS_PROXY: string; readonly NODE_EXTRA_CA_CERTS: string }
  readonly #upstream: ScriptedUpstream
  readonly #proxy: Server
  readonly #folder: string
  readonly #sockets = new Set<Socket>()
  readonly #refused = new Set<string>()

  private constructor(upstream: ScriptedUpstream, proxy: Server, folder: string) {
    this.#upstream = upstream
    this.#proxy = proxy
    this.#folder = folder
    const { port } = proxy.address() as AddressInfo
    this.env = { HTTPS_PROXY: `http://127.0.0.1:${port}`, NODE_EXTRA_CA_CERTS: join(folder, 'vendors.pem') }
  }

  /** `vendors`: how each address answers, such as `https://api.openai.com/v1`; of several that fit a request, the longest answers. */
  static async start(vendors: Readonly<Record<string, RequestHandler>>): Promise<VendorNetwork> {
    const addresses = Object.keys(vendors).map((address) => new URL(address))
    const hosts = new Map([...new Set(addresses.map(({ hostname }) => hostname))].map((name) => [name, selfSigned({ name })]))
    const folder = await mkdtemp(join(tmpdir(), 'umg-vendors-'))
    await writeFile(join(folder, 'vendors.pem'), [...hosts.values()].map(({ cert }) => cert).join(''))

    const upstream = await scriptedUpstream()
    const byLength = Object.keys(vendors).toSorted((a, b) => b.length - a.length)
    upstream.on((request) => {
      const url = urlOf(request)
      const address = byLength.find((one) => url.startsWith(one))
      if (address === undefined) throw new Error(`no vendor is scripted for ${request.method} ${url}`)
      return vendors[address]!(request)
    })

    const proxy = createServer()
    await once(proxy.listen(0, '127.0.0.1'), 'listening')
    const network = new VendorNetwork(upstream, proxy, folder)
    const contexts = new Map([...hosts].map(([name, certificate]) => [name, createSecureContext(certificate)]))
    proxy.on('connect', ({ url: authority = '' }, stream) => {
      const socket = network.#keep(stream as Socket)
      const [name = '', port] = authority.split(':')
      const secureContext = port === '443' ? contexts.get(name) : undefined
      if (secureContext !== undefined) return network.#serve(socket, secureContext)
      network.#refused.add(authority)
      socket.end('HTTP/1.1 502 Not scripted\r\ncontent-length: 0\r\n\r\n')
    })
    return network
  }

  /** All requests so far, with the addresses that they were sent to. */
  get requests(): readonly { readonly url: string; readonly request: ReceivedRequest }[] {
    return this.#upstream.requests.map((request) => ({ url: urlOf(request), request }))
  }

  /** Throws an Error if a name was asked for that is not scripted. */
  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    this.#proxy.closeAllConnections()
    await once(this.#proxy.close(), 'close')
    await rm(this.#folder, { recursive: true })
    await this.#upstream.close()
    if (this.#refused.size > 0) throw new Error(`not scripted, but called: ${[...this.#refused].join(', ')}`)
  }

  #serve(socket: Socket, secureContext: ReturnType<typeof createSecureContext>): void {
    socket.write('HTTP/1.1 200 OK\r\n\r\n')
    const client = new TLSSocket(socket, { isServer: true, secureContext })
    const server = this.#keep(connect(Number(new URL(this.#upstream.origin).port), '127.0.0.1'))
    client.on('error', () => server.destroy()).on('close', () => server.destroy())
    server.on('close', () => client.destroy())
    client.pipe(server).pipe(client)
  }

  /** Keeps a socket until it closes, and ends nothing by its errors: the other side sees the close. */
  #keep(socket: Socket): Socket {
    this.#sockets.add(socket)
    return socket.on('error', () => undefined).once('close', () => this.#sockets.delete(socket))
  }
}

const urlOf = ({ headers, path }: ReceivedRequest): string => `https://${headers.host}${path}`
