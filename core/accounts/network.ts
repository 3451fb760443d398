import { isIPv6 } from 'node:net'

const GROUPS = 8
/** 64 bits: what one customer has, and within which they are whoever they like (RFC 6177). */
const OF_ONE_CUSTOMER = 4

/** Where an address belongs to, for counting: an IPv4 address is a place of its own, of IPv6 a whole /64 is one. */
export function networkOf(address: string): string {
  if (!isIPv6(address)) return address
  const [before = [], after = []] = address.split('::').map((part) => (part === '' ? [] : part.split(':')))
  const zeros = Array.from({ length: Math.max(GROUPS - before.length - after.length, 0) }, () => '0')
  const groups = [...before, ...zeros, ...after].slice(0, OF_ONE_CUSTOMER)
  return `${groups.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`
}
