import type { IncomingMessage } from 'node:http'
import { BlockList, isIPv6 } from 'node:net'

/** Tells where a request comes from. */
export type AddressOf = (request: IncomingMessage) => string

/**
 * The address of the connection; where that is a proxy of the operator's, the last one in `X-Forwarded-For` that is none. What stands
 * before it the client may have written itself. `trusted`: addresses and networks (`10.0.0.0/8`).
 */
export function clientAddress(trusted: readonly string[]): AddressOf {
  const proxies = new BlockList()
  for (const network of trusted) {
    const [address = '', bits] = network.split('/')
    const family = isIPv6(address) ? 'ipv6' : 'ipv4'
    proxies.addSubnet(address, Number(bits ?? (family === 'ipv6' ? 128 : 32)), family)
  }
  const isProxy = (address: string): boolean => proxies.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')
  return function addressOf({ socket, headers }) {
    const way = `${headers['x-forwarded-for'] ?? ''},${socket.remoteAddress}`.split(',').map(plain).filter(Boolean)
    return way.findLast((address) => !isProxy(address)) ?? way[0] ?? ''
  }
}

/** Without the blanks around it, and an IPv4 address in its own form where a socket of IPv6 gave it. */
const plain = (address: string): string => address.trim().replace(/^::ffff:(?=\d+\.)/, '')
