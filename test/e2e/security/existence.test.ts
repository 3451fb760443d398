import { expect } from 'chai'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'

const ROUTES = `version: 1
chain:
  - plugin: auth
  - plugin: rate-tagging
    config: { classes: { all: { requests: 6000/min } }, default: all, tags: { asked: "{model}" } }
  - plugin: header-stamping
    config: { response: { x-asked: "{namespace}/{model}", x-tag: "{tag.asked}", x-key: "{key}" } }
namespaces:
  sandbox: { provider: sandbox, models: [hello, secret] }
`

describe('headers stamped with the model', () => {
  let gateway: TestGateway
  before(async () => {
    gateway = await startTestGateway({ routes: ROUTES })
  })
  after(() => gateway?.stop())

  async function headersOf(model: string): Promise<readonly (string | number | null)[]> {
    const key = await gateway.key({ models: ['sandbox/hello'] })
    const json = { model, messages: [{ role: 'user', content: 'Hi' }] }
    const { status, headers } = await gateway.fetch('/v1/chat/completions', { key, json })
    return [status, headers.get('x-asked'), headers.get('x-tag')]
  }

  it('do not tell a caller that a model exists which it may not call', async () => {
    expect(await headersOf('sandbox/secret')).to.deep.equal([404, null, null])
    for (const unknown of ['sandbox/none', 'none/secret', 'none'])
      expect(await headersOf(unknown)).to.deep.equal([404, null, null])
  })

  it('are on the replies of models that it may call', async () => {
    expect(await headersOf('sandbox/hello')).to.deep.equal([200, 'sandbox/hello', 'hello'])
  })
})
