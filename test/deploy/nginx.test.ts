import { expect } from 'chai'
import OpenAI from 'openai'
import { head, hold, json, type ScriptedUpstream, scriptedUpstream } from '../../core/testing/kit.ts'
import { connect } from '../e2e/responses/socket-client.ts'
import { openai as dialect } from '../e2e/sdk/openai-dialect.ts'
import { selfSigned } from '../support/certificate.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { describeWith } from '../support/requirements.ts'
import { readText } from '../support/sources.ts'
import { startNginx, type TestNginx } from './nginx.ts'

/** What docs/deployment.md says. */
const RECIPE = /^```nginx\n([\s\S]+?)^```/m.exec(readText('docs/deployment.md'))![1]!

describeWith('nginx', 'nginx in front of the gateway, as docs/deployment.md says,', () => {
  let upstream: ScriptedUpstream
  let gateway: TestGateway
  let nginx: TestNginx
  let client: OpenAI

  before(async () => {
    upstream = await scriptedUpstream()
    const namespaces = { up: { provider: 'openai-compatible', config: { baseUrl: `${upstream.origin}/v1` } } }
    gateway = await startTestGateway({ routes: { chain: [{ plugin: 'auth' }], namespaces } })
    const config = RECIPE.replace('127.0.0.1:8080', new URL(gateway.url).host)
    nginx = await startNginx(config, selfSigned({ name: 'llm.example.com' }))
    client = new OpenAI({ baseURL: 'https://llm.example.com/v1', apiKey: gateway.liveKey, maxRetries: 0, fetch: nginx.fetch })
  })
  after(async () => {
    await nginx?.stop()
    await gateway?.stop()
    await upstream?.close()
  })

  const ask = (content: string) => ({ model: 'up/m', messages: [{ role: 'user' as const, content }] })
  const [first = '', ...rest] = dialect.events({ text: ['Hel', 'lo'] })

  it('passes each event of a stream on at once', async () => {
    const held = hold()
    upstream.on(() => [head(200, { 'content-type': 'text/event-stream' }), first, held, ...rest])
    let text = ''
    for await (const { choices } of await client.chat.completions.create({ ...ask('Hi'), stream: true })) {
      text += choices[0]?.delta.content ?? ''
      held.release()
    }
    expect(text).to.equal('Hello')
  })

  it('ends the call of a client that leaves', async () => {
    const held = hold()
    upstream.on(() => [head(200, { 'content-type': 'text/event-stream' }), first, held])
    const before = upstream.requests.length
    for await (const _ of await client.chat.completions.create({ ...ask('Hi'), stream: true })) break
    await upstream.requests[before]!.closed
  })

  it('passes a WebSocket on', async () => {
    upstream.on(() => [head(200, { 'content-type': 'text/event-stream' }), first, ...rest])
    const through = { url: 'https://llm.example.com', liveKey: gateway.liveKey }
    const socket = await connect(through, { createConnection: () => nginx.connect() })
    expect((await socket.turn({ model: 'up/m', input: 'Hi' })).type).to.equal('response.completed')
    await socket.close()
  })

  it('passes a large body on', async () => {
    upstream.on(() => json(dialect.whole({ text: ['Hello'] })))
    const { choices } = await client.chat.completions.create(ask('x'.repeat(20 << 20)))
    expect(choices[0]!.message.content).to.equal('Hello')
  })
})
