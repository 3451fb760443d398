import { expect } from 'chai'
import { throughProxy } from '../../../core/upstream/through-proxy.ts'

const direct = () => undefined as never

describe('the variables of a proxy on the way to upstreams', () => {
  for (const [env, sentence] of [
    [{ HTTPS_PROXY: 'socks5://proxy:1080' }, 'HTTPS_PROXY must be the URL of an HTTP proxy'],
    [{ HTTPS_PROXY: 'http://me:100%@proxy:3128' }, 'HTTPS_PROXY has a user or a password with a "%"'],
    [{ HTTPS_PROXY: 'proxy:3128', NO_PROXY: 'a.test,10.0.0.0/99' }, 'NO_PROXY has "10.0.0.0/99", which is no network.'],
    [{ HTTPS_PROXY: 'proxy:3128', NO_PROXY: '::1/129' }, 'NO_PROXY has "::1/129", which is no network.'],
  ] as const) {
    it(`are refused at the start: ${JSON.stringify(env)}`, () => {
      expect(() => throughProxy(direct, env)).to.throw(sentence)
    })
  }
})
