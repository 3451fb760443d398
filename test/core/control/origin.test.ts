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

describe('the address of a client', () => {
  for (const [what, remote, forwarded, wanted] of [
    ['that of the connection', '192.0.2.1', undefined, '192.0.2.1'],
    ['that of the connection, whatever the client sends', '192.0.2.1', '198.51.100.1', '192.0.2.1'],
    ['that from a trusted proxy', '10.1.2.3', '192.0.2.1', '192.0.2.1'],
    ['that from the outermost trusted proxy', '10.1.2.3', '198.51.100.1, 192.0.2.1, 192.168.1.7', '192.0.2.1'],
    ['that of a trusted proxy without the header', '10.1.2.3', undefined, '10.1.2.3'],
    ['that of a trusted proxy, if there are no others', '10.1.2.3', '10.9.9.9, 192.168.1.7', '10.9.9.9'],
    ['an unmapped IPv4 address', '::ffff:192.0.2.1', undefined, '192.0.2.1'],
    ['that from a trusted proxy with an IPv4-mapped address', '::ffff:10.1.2.3', '192.0.2.1', '192.0.2.1'],
    ['an IPv6 address', '2001:db8::5', '2001:db9::1', '2001:db9::1'],
    ['that of the trusted proxy, if what it forwards is no address', '10.1.2.3', 'unknown', '10.1.2.3'],
    ['that of the trusted proxy, if a client rotates words', '10.1.2.3', '192.0.2.1, zz', '10.1.2.3'],
    ['that of the trusted proxy, if a client sends a long text', '10.1.2.3', 'x'.repeat(15_000), '10.1.2.3'],
    ['that from a proxy that adds the port', '10.1.2.3', '192.0.2.1:4711', '192.0.2.1'],
    ['that from a proxy that adds the port to IPv6', '10.1.2.3', '[2001:db9::1]:4711', '2001:db9::1'],
  ] as const) {
    it(`is ${what}`, () => {
      expect(clientAddress(PROXIES)(request(remote, forwarded))).to.equal(wanted)
    })
  }
})
