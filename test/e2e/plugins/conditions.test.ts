import { expect } from 'chai'
import { digestOf } from '../../../core/text/ids.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'

const NIGHTLY = 'sk-live-irZTVfCwhKeI4iywS5HQG4whmyW55h0ds29Q'

/** Each link sets a header of replies by its name. */
const stamp = (name: string, when: object) => ({
  plugin: 'header-stamping',
  config: { response: { [`x-${name}`]: 'yes' } },
  when,
})

describe('a link with `when`', () => {
  let gateway: TestGateway

  before(async () => {
    gateway = await startTestGateway({
      routes: {
        chain: [
          stamp('above-auth', { accounts: ['research'] }),
          { plugin: 'auth' },
          stamp('account', { accounts: ['research'] }),
          stamp('key', { keys: ['routes:nightly'] }),
          stamp('tag', { tags: { team: 'vision', job: 'nightly' } }),
          stamp('other-tag', { tags: { team: 'vision', job: 'daily' } }),
          stamp('endpoint', { endpoints: ['models'] }),
          stamp('header', { headers: { 'x-beta': '1' } }),
          stamp('namespace', { namespaces: ['sandbox'] }),
          stamp('all', { namespaces: ['sandbox'], keys: ['routes:nightly'], headers: { 'x-beta': '1' } }),
        ],
        namespaces: { sandbox: { provider: 'sandbox' } },
        accounts: { research: { tags: { team: 'vision' } } },
        keys: [
          {
            name: 'nightly',
            kind: 'live',
            account: 'research',
            hash: `sha256:${digestOf(NIGHTLY)}`,
            models: ['*'],
            tags: { job: 'nightly' },
          },
        ],
      },
    })
  })

  after(() => gateway?.stop())

  const NAMES = ['above-auth', 'account', 'key', 'tag', 'other-tag', 'endpoint', 'header', 'namespace', 'all']
  const passed = async (reply: Promise<Response>) => {
    const { headers } = await reply
    return NAMES.filter((name) => headers.has(`x-${name}`))
  }
  const chat = (key: string, headers: Record<string, string> = {}) =>
    gateway.fetch('/v1/chat/completions', {
      key,
      headers,
      json: { model: 'sandbox/hello', messages: [{ role: 'user', content: 'Hi' }] },
    })

  it('runs for calls that fit its account, key, tags and namespace', async () => {
    expect(await passed(chat(NIGHTLY))).to.deep.equal(['account', 'key', 'tag', 'namespace'])
    expect(await passed(chat(gateway.liveKey))).to.deep.equal(['namespace'])
  })

  it('runs for requests with its header, and only if all else fits', async () => {
    expect(await passed(chat(gateway.liveKey, { 'x-beta': '1' }))).to.deep.equal(['header', 'namespace'])
    expect(await passed(chat(NIGHTLY, { 'x-beta': '1' }))).to.include.members(['header', 'all'])
    expect(await passed(chat(NIGHTLY, { 'x-beta': '2' }))).to.not.include('header')
  })

  it('runs for its endpoint, also one without a model', async () => {
    expect(await passed(gateway.fetch('/v1/models'))).to.deep.equal(['endpoint'])
  })
})
