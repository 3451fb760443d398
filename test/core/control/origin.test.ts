import type { IncomingMessage } from 'node:http'
import { expect } from 'chai'
import { clientAddress } from '../../../core/control/origin.ts'

/** A request over a connection from `remoteAddress`. */
const request = (remoteAddress: string, forwarded?: string): IncomingMessage =>
  ({
    socket: { remoteAddress },
    headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded },
  }) as unknown as IncomingMessage

const PROXIES = ['10.0.0.0/8', '192.168.1.7', '2001:db8::/32']

describe('where a request comes from', () => {
  for (const [what, remote, forwarded, wanted] of [
    ['the connection', '192.0.2.1', undefined, '192.0.2.1'],
    ['the connection, whatever the client says', '192.0.2.1', '198.51.100.1', '192.0.2.1'],
    ['what our proxy says', '10.1.2.3', '192.0.2.1', '192.0.2.1'],
    ['what the outermost of our proxies says', '10.1.2.3', '198.51.100.1, 192.0.2.1, 192.168.1.7', '192.0.2.1'],
    ['a proxy that says nothing', '10.1.2.3', undefined, '10.1.2.3'],
    ['a proxy of ours, where there are only those', '10.1.2.3', '10.9.9.9, 192.168.1.7', '10.9.9.9'],
    ['an IPv4 address that a socket of IPv6 gave', '::ffff:192.0.2.1', undefined, '192.0.2.1'],
    ['what our proxy says, that a socket of IPv6 gave', '::ffff:10.1.2.3', '192.0.2.1', '192.0.2.1'],
    ['an IPv6 address', '2001:db8::5', '2001:db9::1', '2001:db9::1'],
    ['nonsense that our proxy passed on, as it is', '10.1.2.3', 'unknown', 'unknown'],
  ] as const) {
    it(`is ${what}`, () => {
      expect(clientAddress(PROXIES)(request(remote, forwarded))).to.equal(wanted)
    })
  }
})
