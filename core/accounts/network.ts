import { isIPv6, SocketAddress } from 'node:net'

const GROUPS = 8
/** 64 bits: what one customer has, and within which they are whoever they like (RFC 6177). */
const OF_ONE_CUSTOMER = 4

/** Where an address belongs to, for counting: an IPv4 address is a place of its own, of IPv6 a whole /64 is one. */
export function networkOf(address: string): string {
  if (!isIPv6(address)) return address
  // As node writes it: short, in small letters, and all in groups, but for some that begin with zeros. Its parser refuses a zone
  // behind the longest addresses.
  const { address: plain } = new SocketAddress({ address: address.replace(/%.*/, ''), family: 'ipv6' })
  const [before = [], after = []] = plain.split('::').map((part) => (part === '' ? [] : part.split(':')))
  const zeros = Array.from({ length: Math.max(GROUPS - before.length - after.length, 0) }, () => '0')
  return `${[...before, ...zeros, ...after].slice(0, OF_ONE_CUSTOMER).join(':')}::/64`
}
