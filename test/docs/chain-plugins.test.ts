import { expect } from 'chai'
import { createSecret } from '../../core/keys/format.ts'
import { digestOf } from '../../core/text/ids.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { readText } from '../support/sources.ts'

const PAGE = readText('docs/chain-plugins.md')

/** The example of a plugin, as a reader copies it from the page. */
function exampleOf(plugin: string): string {
  const section = new RegExp(`^## ${plugin}\\n([\\s\\S]*?)(?=^## |$(?![\\s\\S]))`, 'm').exec(PAGE)?.[1] ?? ''
  return /^```yaml\n([\s\S]+?)^```/m.exec(section)![1]!
}

const json = { model: 'sandbox/hello', messages: [{ role: 'user', content: 'Hi' }] }
const CALL = '/v1/chat/completions'

describe('an example of docs/chain-plugins.md', () => {
  let gateway: TestGateway | undefined

  afterEach(async () => {
    await gateway?.stop()
    gateway = undefined
  })

  const run = async (routes: string): Promise<TestGateway> => {
    gateway = await startTestGateway({ routes })
    return gateway
  }

  it('opens the sandbox to calls without a key, and still refuses a wrong one (auth)', async () => {
    const { url, fetch: call, metric } = await run(exampleOf('auth'))
    const body = { method: 'POST', body: JSON.stringify(json) }
    const open = await fetch(url + CALL, { ...body, headers: { 'content-type': 'application/json' } })
    expect(open.status).to.equal(200)
    expect((await call(CALL, { json, key: createSecret('live') })).status).to.equal(401)
    expect(await metric('umg_auth_failures_total')).to.equal(1)
  })

  it('limits keys by the default class, and counts calls by the label (rate-tagging)', async () => {
    const { fetch: call, metric } = await run(exampleOf('rate-tagging'))
    const reply = await call(CALL, { json, headers: { 'x-team': 'search' } })
    expect(reply.status).to.equal(200)
    expect(reply.headers.get('x-ratelimit-limit-requests')).to.equal('60')
    expect(reply.headers.get('x-ratelimit-limit-tokens')).to.equal('100000')
    await reply.text()
    expect(await metric('umg_tagged_requests_total', { team: 'search' })).to.equal(1)
  })

  it('sets the headers that the page names, and those of its config (header-stamping)', async () => {
    const { fetch: call } = await run(exampleOf('header-stamping'))
    const { headers } = await call(CALL, { json })
    const set = ['openai-processing-ms', 'x-umg-overhead-ms', 'x-umg-attempts'].map((name) => headers.get(name))
    for (const value of set) expect(value).to.match(/^\d+(\.\d)?$/)
    expect([headers.get('x-umg-namespace'), headers.get('x-umg-model')]).to.deep.equal(['sandbox', 'hello'])
    expect(headers.get('x-served-by')).to.equal('sandbox/hello')
  })

  it('tells the key that it names, and no other, how a call was led (explain)', async () => {
    const secret = createSecret('live')
    // The page cannot have the hash of a key that anybody could use.
    const routes = exampleOf('explain').replace(/sha256:[0-9a-f]{64}/, `sha256:${digestOf(secret)}`)
    const { fetch: call } = await run(routes)
    const explained = async (key?: string) => {
      const { headers } = await call(CALL, { json, headers: { 'x-umg-explain': '1' }, ...(key !== undefined && { key }) })
      return [headers.get('x-umg-route'), headers.get('x-umg-attempt-results')]
    }
    const [route, attempts] = await explained(secret)
    expect(route).to.equal('sandbox/hello')
    expect(attempts).to.match(/^sandbox\/hello ok \d+ms$/)
    expect(await explained()).to.deep.equal([null, null])
  })
})
