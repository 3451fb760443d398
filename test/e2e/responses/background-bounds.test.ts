// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${…} is the syntax of routes.yaml
import { expect } from 'chai'
import type { Response } from 'openai/resources/responses/responses'
import { createAccount } from '../../../core/accounts/accounts.ts'
import { GATEWAY } from '../../../core/accounts/audit.ts'
import { hold, json, openaiReply, type ScriptedUpstream, sse } from '../../../core/testing/kit.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { poll } from '../../support/poll.ts'
import { REDACTOR } from '../messages/redactor.ts'
import { allOf, ended, scriptedUpstream, startKeeping, UPSTREAMS, wholeAfter } from './background-fixture.ts'

describe('A gateway with responses in the background', () => {
  let upstream: ScriptedUpstream
  let gateway: TestGateway

  beforeEach(async () => {
    upstream = await scriptedUpstream()
  })
  afterEach(async () => {
    await gateway?.stop()
    await upstream?.close()
  })

  const begin = (more: object = {}, key = gateway.liveKey) =>
    gateway.fetch('/v1/responses', { key, json: { model: 'chat/m', input: 'Think', background: true, ...more } })
  const codeOf = async (reply: globalThis.Response) => ((await reply.json()) as { error: { code: string } }).error.code

  it('runs no more of them than it may, and of one account no more than its share', async () => {
    gateway = await startKeeping(upstream, { admission: { background: 3 } })
    const gates = [hold(), hold()]
    const accounts = await Promise.all(
      ['One', 'Two'].map((name) => createAccount(gateway.store, { name, models: ['*'], rateClass: null }, GATEWAY)),
    )
    const [one, two] = (await Promise.all(accounts.map(({ id }) => gateway.key({ account: id })))) as [string, string]
    for (const gate of gates) upstream.reply(wholeAfter(gate, 'chat', 'Thought'))
    const first = (await (await begin()).json()) as Response
    const refused = await begin()
    expect([refused.status, await codeOf(refused)]).to.deep.equal([429, 'background_limit_reached'])
    expect((await begin({}, one)).status).to.equal(200)
    const full = await begin({}, two)
    expect([full.status, await codeOf(full)]).to.deep.equal([503, 'gateway_overloaded'])
    for (const gate of gates) gate.release()
    await ended(gateway.openai(), first.id)
    upstream.reply(json(UPSTREAMS.chat.whole('Thought')))
    await poll(
      () => begin(),
      ({ status }) => status === 200,
    )
  })

  it('refuses them before an upstream is asked if it keeps nothing', async () => {
    const config = { baseUrl: `${upstream.origin}/v1`, apiKey: '${env:KEY}' }
    gateway = await startTestGateway({
      env: { KEY: 'k' },
      routes: {
        chain: [{ plugin: 'auth' }],
        namespaces: {
          chat: { provider: 'openai-compatible', config },
          native: { provider: 'openai-compatible', config: { ...config, responses: true } },
        },
      },
    })
    for (const model of ['chat/m', 'native/m']) {
      const reply = await begin({ model })
      expect([reply.status, await codeOf(reply)]).to.deep.equal([400, 'unsupported_parameter'])
    }
    expect(upstream.requests).to.deep.equal([])
  })

  it('lets links change them, whole and streamed', async () => {
    gateway = await startKeeping(upstream, {
      files: { 'redactor.ts': REDACTOR },
      chain: [{ plugin: './redactor.ts', when: { endpoints: ['responses'] } }],
    })
    const client = gateway.openai().withOptions({ maxRetries: 0 })
    const { whole, stream } = openaiReply({ text: 'Hi' })
    upstream.reply(json(whole))
    const { id } = await client.responses.create({ model: 'chat/m', input: 'hush', background: true })
    expect(await ended(client, id)).to.include({ status: 'completed', output_text: 'xx' })
    upstream.reply(sse(stream))
    const events = await allOf(
      await client.responses.create({ model: 'native/m', input: 'hush', background: true, stream: true }),
    )
    const said = events.flatMap((event) => (event.type === 'response.output_text.delta' ? [event.delta] : []))
    expect(said.join('')).to.equal('xx')
  })

  it('ends them with the time of a call', async () => {
    const config = { baseUrl: `${upstream.origin}/v1`, apiKey: '${env:KEY}' }
    gateway = await startKeeping(upstream, {
      routes: { namespaces: { chat: { provider: 'openai-compatible', config, timeouts: { total: '500ms' } } } },
    })
    upstream.reply([hold()])
    const { id } = (await (await begin()).json()) as Response
    const last = await ended(gateway.openai(), id)
    expect(last).to.include({ status: 'failed' })
    expect(last.error).to.include({ code: 'upstream_timeout' })
  })

  it('goes on with one whose gateway is configured anew', async () => {
    gateway = await startKeeping(upstream)
    const gate = hold()
    upstream.reply(wholeAfter(gate, 'chat', 'Thought'))
    const { id } = (await (await begin()).json()) as Response
    await gate.reached
    await gateway.reload()
    gate.release()
    expect(await ended(gateway.openai(), id)).to.include({ status: 'completed' })
  })
})
