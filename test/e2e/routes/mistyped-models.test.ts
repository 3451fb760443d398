import { expect } from 'chai'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'

const ROUTES = `version: 1
chain: [{ plugin: auth }]
namespaces:
  sandbox: { provider: sandbox, models: [hello, echo] }
  open: { provider: sandbox }
  hidden: { provider: sandbox, models: [secret-model] }
  acme:
    models:
      smart: { targets: [{ model: sandbox/hello }] }
      fast: { targets: [{ model: sandbox/echo }] }
aliases: { gpt-4o: acme/smart }
`

/** Endpoints, and a body of each without its model. */
const BODIES: Readonly<Record<string, object>> = {
  '/v1/chat/completions': { messages: [{ role: 'user', content: 'Hi' }] },
  '/v1/messages': { messages: [{ role: 'user', content: 'Hi' }], max_tokens: 10 },
  '/v1/responses': { input: 'Hi' },
  '/v1/embeddings': { input: 'Hi' },
}

describe('a mistyped model', () => {
  let gateway: TestGateway
  let key: string

  before(async () => {
    gateway = await startTestGateway({ routes: ROUTES })
    key = await gateway.key({ models: ['sandbox/*', 'acme/*', 'open/*'] })
  })

  after(() => gateway?.stop())

  /** The message of the 404. */
  async function messageFor(model: string, path = '/v1/chat/completions'): Promise<string> {
    const reply = await gateway.fetch(path, { json: { model, ...BODIES[path] }, key })
    expect(reply.status).to.equal(404)
    return ((await reply.json()) as { error: { message: string } }).error.message
  }

  for (const [model, meant] of [
    ['acme/smrt', 'acme/smart'],
    ['acmee/smart', 'acme/smart'],
    ['acme/SMART', 'acme/smart'],
    ['gpt-4', 'gpt-4o'],
    ['smart', 'acme/smart'],
    ['opne/any/model-1', 'open/any/model-1'],
    ['Open/some-model', 'open/some-model'],
  ])
    it(`${model} is answered with the nearest name of the caller's own list, ${meant}`, async () => {
      expect(await messageFor(model!)).to.include(`Did you mean \`${meant}\`?`)
    })

  for (const path of Object.keys(BODIES))
    it(`is answered so at ${path}`, async () => {
      expect(await messageFor('acme/smrt', path)).to.include('Did you mean `acme/smart`?')
    })

  it('is answered without a name that its key may not call', async () => {
    expect(await messageFor('hidden/secret-modle'))
      .to.not.include('secret-model`?')
      .and.not.include('Did you mean `hidden')
  })

  it('that is like no other is answered without a suggestion', async () => {
    expect(await messageFor('elsewhere/something-quite-different')).to.not.include('Did you mean')
  })
})
