import { expect } from 'chai'
import { networkOf } from '../../../core/accounts/sign-in-throttle.ts'

describe('the network of an address', () => {
  for (const [address, network] of [
    ['192.0.2.7', '192.0.2.7'],
    ['2001:db8:0:7::1', '2001:db8:0:7::/64'],
    ['2001:DB8:0:0007:ffff:ffff:ffff:ffff', '2001:db8:0:7::/64'],
    ['2001:db8::7:0:0:0:1', '2001:db8:0:7::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::', 'fe80:0:0:0::/64'],
    ['64:ff9b::192.0.2.33', '64:ff9b:0:0::/64'],
    ['2001:db8::1:192.0.2.1', '2001:db8:0:0::/64'],
    ['2001:db8::7:0:0:192.0.2.1', '2001:db8:0:7::/64'],
    ['1:2:3:4:5:6:192.0.2.1', '1:2:3:4::/64'],
    ['::192.0.2.1', '0:0:0:0::/64'],
    ['::ffff:192.0.2.1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['2001:db8::7:0:0:0:1%eth0:1', '2001:db8:0:7::/64'],
    ['ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255%eth0', 'ffff:ffff:ffff:ffff::/64'],
    ['unknown', 'unknown'],
    ['', ''],
  ] as const) {
    it(`"${address}" is "${network}"`, () => {
      expect(networkOf(address)).to.equal(network)
    })
  }
})
