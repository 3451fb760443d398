import { expect } from 'chai'
import { json } from '../../../core/testing/kit.ts'
import { VendorNetwork } from '../../support/vendor-network.ts'
import { Home } from '../lifecycle/umg.ts'

const ROUTES = `version: 1
chain: [{ plugin: auth }]
namespaces:
  anthropic: { provider: anthropic, config: { apiKey: "\${env:KEY}" } }
  groq: { provider: openai-compatible, config: { preset: groq, apiKey: "\${env:KEY}" } }
`

describe('a vendor that is not scripted', () => {
  it('is refused to the gateway, and fails the test by its name', async () => {
    const network = await VendorNetwork.start({
      'https://api.groq.com/openai/v1': () => json({ object: 'list', data: [{ id: 'some-model' }] }),
    })
    const home = await Home.create({ 'routes.yaml': ROUTES })
    try {
      const { code, stderr } = await home.run(['validate', '--online'], { env: { KEY: 'key', ...network.env } }).ended
      expect(code, stderr).to.equal(1)
      expect(network.requests.map(({ url }) => url)).to.deep.equal(['https://api.groq.com/openai/v1/models'])
    } finally {
      await home.remove()
    }
    const closing = await network.close().catch((error: unknown) => error)
    expect(String(closing)).to.equal('Error: not scripted, but called: api.anthropic.com:443')
  })
})
