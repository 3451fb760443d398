import { expect } from 'chai'
import { hasOpenMetrics } from '../../../core/cli/start/lifecycle.ts'

const ADMIN = { port: 9090 }

describe('metrics without a token', () => {
  for (const host of ['0.0.0.0', '::', '192.168.1.7', 'gateway.internal', '127.example.com']) {
    it(`can be read by other machines on ${host}`, () => {
      expect(hasOpenMetrics({ host })).to.equal(true)
      expect(hasOpenMetrics({ host: '127.0.0.1', adminListen: { ...ADMIN, host } })).to.equal(true)
      expect(hasOpenMetrics({ host, metricsToken: 'm-token' })).to.equal(false)
      expect(hasOpenMetrics({ host, adminListen: { ...ADMIN, host: '127.0.0.1' } })).to.equal(false)
    })
  }

  for (const host of ['127.0.0.1', '127.0.0.2', 'localhost', '::1']) {
    it(`cannot be read by other machines on ${host}`, () => {
      expect(hasOpenMetrics({ host })).to.equal(false)
      expect(hasOpenMetrics({ host: '0.0.0.0', adminListen: { ...ADMIN, host } })).to.equal(false)
    })
  }
})
