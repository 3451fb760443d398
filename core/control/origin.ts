import type { IncomingMessage } from 'node:http'
import { BlockList, isIP, isIPv6 } from 'node:net'
import { GatewayError } from '../errors.ts'

/** Determines the client's address. */
export type ClientAddress = (request: IncomingMessage) => string

/**
 * Creates the function that determines a client's address: that of the connection, or, if that is a trusted proxy, the last address in
 * `X-Forwarded-For` that is not one. The entries before it may be forged. If the one that counts is not an address, all of them may be: then it
 * is that of the connection. `trusted`: addresses and networks (`10.0.0.0/8`).
 */
export function clientAddress(trusted: readonly string[]): ClientAddress {
  const proxies = new BlockList()
  for (const network of trusted) {
    const [address = '', bits] = network.split('/')
    const family = isIPv6(address) ? 'ipv6' : 'ipv4'
    proxies.addSubnet(address, Number(bits ?? (family === 'ipv6' ? 128 : 32)), family)
  }
  const isProxy = (address: string): boolean => proxies.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')
  return function addressOf({ socket, headers }) {
    // A proxy process reaches control over a Unix socket, which has no address, and has appended the client's (`core/http/forward.ts`).
    const own = normalize(socket.remoteAddress ?? '')
    const hops = `${headers['x-forwarded-for'] ?? ''},${own}`.split(',').map(normalize).filter(Boolean)
    const client = hops.findLast((address) => !isProxy(address)) ?? hops[0] ?? ''
    return isIP(client) === 0 ? own : client
  }
}

/** Trims an address, and unmaps an IPv4-mapped IPv6 address. Some proxies add the port, and brackets to IPv6: Azure's, and RFC 7239's. */
const normalize = (address: string): string =>
  address
    .trim()
    .replace(/^\[(.+)\](:\d+)?$/, '$1')
    .replace(/^([\d.]+):\d+$/, '$1')
    .replace(/^::ffff:(?=\d+\.)/, '')

/**
 * Refuses cross-site request forgery. Browsers state the origin of a request in `Sec-Fetch-Site`, and over plain HTTP in `Origin`; a
 * page can neither forge nor withhold them. `own`: the console's origin, which a proxy may replace in `Host`. Throws `foreign_origin`.
 */
export function checkOrigin({ headers }: IncomingMessage, own: string): void {
  const { authorization, cookie, origin, 'sec-fetch-site': site } = headers
  // A page can send this header to another site only with consent by CORS, which no path but those of /v1 gives. An empty one does not authenticate.
  if (authorization !== undefined && authorization !== '') return
  if (site !== undefined ? site === 'same-origin' : isOwn(origin, headers.host, own)) return
  // Not a browser, and no cookie that could be abused.
  if (site === undefined && origin === undefined && cookie === undefined) return
  throw new GatewayError('foreign_origin')
}

/** Behind TLS browsers send `Sec-Fetch-Site`: the requested host counts over plain HTTP only. */
function isOwn(origin: string | undefined, host: string | undefined, own: string): boolean {
  return origin === own || (own.startsWith('http:') && origin === `http://${host}`)
}
