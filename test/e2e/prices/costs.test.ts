import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { stringify } from 'yaml'
import {
  event,
  FIN,
  head,
  json,
  openaiReply,
  reply,
  type ScriptedUpstream,
  scriptedUpstream,
  sse,
} from '../../../core/testing/kit.ts'
import type { CallView } from '../../../core/usage/calls.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { poll } from '../../support/poll.ts'
import { type ApiClient, adminClient } from '../usage/api-client.ts'

const USAGE = {
  prompt_tokens: 1000,
  completion_tokens: 100,
  total_tokens: 1100,
  prompt_tokens_details: { cached_tokens: 600 },
  completion_tokens_details: { reasoning_tokens: 40 },
}
const REPLY = openaiReply({ text: 'Hello!', usage: USAGE })
/** 400 × 2 + 600 × 0.5 + 100 × 10 */
const COST = { usd: '0.0021', saved_usd: '0.0009', price: 'routes.yaml input=2 cachedInput=0.5 output=10' }

/** Models with a fallback, one for each test: the target of a failed call rests. */
const SMART = ['smart', 'overloaded', 'cut', 'refused', 'page']
const smart = (name: string) => ({ targets: [{ model: `open/large-${name}` }], fallbacks: ['spare/small'] })

describe('the cost of calls', () => {
  let upstream: ScriptedUpstream
  let spare: ScriptedUpstream
  let gateway: TestGateway
  let api: ApiClient

  const routes = (models: object) => ({
    chain: [
      { plugin: 'auth' },
      { plugin: 'header-stamping', config: { response: { 'x-cost': '{cost_usd}', 'x-id': '{request_id}' } } },
    ],
    namespaces: {
      sandbox: { provider: 'sandbox' },
      open: { provider: 'openai-compatible', breaker: false, config: { baseUrl: `${upstream.origin}/v1` } },
      spare: { provider: 'openai-compatible', breaker: false, config: { baseUrl: `${spare.origin}/v1` } },
      acme: { models: Object.fromEntries(SMART.map((name) => [name, smart(name)])) },
    },
    prices: { models },
  })

  before(async () => {
    upstream = await scriptedUpstream()
    spare = await scriptedUpstream()
    gateway = await startTestGateway({
      routes: routes({
        'open/free': { free: true },
        'open/known': { like: 'openai/gpt-4o' },
        'open/large*': { input: 2, cachedInput: 0.5, output: 10 },
        'spare/*': { input: 1, output: 1, request: 0.5 },
      }),
    })
    api = await adminClient(gateway)
  })

  after(async () => {
    await gateway?.stop()
    await upstream?.close()
    await spare?.close()
  })

  async function call(model: string, { key, stream }: { readonly key?: string; readonly stream?: boolean } = {}) {
    const messages = [{ role: 'user', content: 'Hi.' }]
    const answer = await gateway.fetch('/v1/chat/completions', { json: { model, messages, stream }, ...(key && { key }) })
    await answer.text()
    const row = await poll(
      () => api.get(`/requests/${answer.headers.get('x-request-id')}`),
      ({ status: code }) => code === 200,
    )
    return { header: answer.headers.get('x-cost'), row: row.json as CallView }
  }

  it('is in the header, the row, the log and the metric of a whole reply', async () => {
    upstream.reply(json(REPLY.whole))
    const before = await gateway.metric('umg_cost_usd_total', { namespace: 'open', model: 'large' })
    const { header, row } = await call('open/large')
    expect(header).to.equal(COST.usd)
    expect(row.cost).to.deep.equal(COST)
    expect(await gateway.logged(({ id }) => id === row.id)).to.include({ costUsd: 0.0021 })
    expect((await gateway.metric('umg_cost_usd_total', { namespace: 'open', model: 'large' })) - before).to.be.closeTo(
      0.0021,
      1e-12,
    )
  })

  it('has a metric of how much of the prompts was in a cache, by target', async () => {
    const labels = { namespace: 'open', model: 'large', credential: '' }
    const counted = () =>
      Promise.all(['read', 'none'].map((cache) => gateway.metric('umg_input_tokens_total', { ...labels, cache })))
    const before = await counted()
    upstream.reply(json(REPLY.whole))
    await call('open/large')
    const after = await counted()
    expect(after.map((count, index) => count - before[index]!)).to.deep.equal([600, 400])
  })

  it('is in the row of a stream, and in no header', async () => {
    upstream.reply(sse(REPLY.stream))
    const { header, row } = await call('open/large', { stream: true })
    expect(header).to.equal(null)
    expect(row.cost).to.deep.equal(COST)
  })

  it('is that of the model that served a call after a fallback', async () => {
    upstream.reply(json({}, { status: 500 }))
    spare.reply(json(REPLY.whole))
    const { row } = await call('acme/smart')
    expect(row.served).to.include({ namespace: 'spare', model: 'small' })
    // 1000 × 1 + 100 × 1, and 0.5 for the request
    expect(row.cost).to.deep.equal({ usd: '0.5011', saved_usd: '0.00', price: 'routes.yaml input=1 output=1 request=0.5' })
  })

  it('is the sum of what each attempt has used, at the price of its own target', async () => {
    const spent = { usd: '0.5032', saved_usd: '0.0009', price: `${COST.price} + routes.yaml input=1 output=1 request=0.5` }
    const choices = [{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }]
    const begun = event({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'large', choices })
    const error = { message: 'Overloaded', code: 503 }
    upstream.reply(sse([begun, event({ error, usage: USAGE })]))
    spare.reply(sse(REPLY.stream))
    const { row } = await call('acme/overloaded', { stream: true })
    expect(row.attempts.map(({ result }) => result)).to.deep.equal(['upstream_overloaded', 'ok'])
    expect(row.cost).to.deep.equal(spent)
    expect(row.tokens).to.include({ input: 2000, output: 200, cached: 1200, reasoning: 80, estimated: true })
  })

  it('has the estimate of a reply that was cut before another target served the call', async () => {
    const whole = JSON.stringify(openaiReply({ text: 'Hello! '.repeat(200), usage: USAGE }).whole)
    upstream.reply([
      head(200, { 'content-type': 'application/json', 'content-length': String(whole.length) }),
      whole.slice(0, 1200),
      FIN,
    ])
    spare.reply(json(REPLY.whole))
    const { row, header } = await call('acme/cut')
    expect(row.attempts.map(({ result }) => result)).to.deep.equal(['upstream_disconnected', 'ok'])
    // 1200 bytes × 10 / 4, a short prompt × 2, and the other call.
    expect(Number(row.cost!.usd)).to.be.within(0.5011 + 0.003, 0.5011 + 0.0032)
    expect(header).to.equal(row.cost!.usd)
  })

  it('has nothing of a refusal with status 200, nor of a page that is no reply', async () => {
    const page = reply(['<html>Busy</html>'], { headers: { 'content-type': 'text/html' } })
    const refusals = { refused: json({ error: { message: 'Overloaded', code: 503 } }), page }
    for (const [name, refusal] of Object.entries(refusals)) {
      upstream.reply(refusal)
      spare.reply(json(REPLY.whole))
      const { row } = await call(`acme/${name}`)
      expect(row.attempts).to.have.length(2)
      expect(row.cost!.usd).to.equal('0.5011')
      upstream.reply(refusal)
      const alone = await call(`open/large-${name}`)
      expect({ tokens: alone.row.tokens, cost: alone.row.cost }).to.deep.equal({ tokens: null, cost: null })
    }
  })

  it('is the list price of another model where routes.yaml says so', async () => {
    upstream.reply(json(REPLY.whole))
    const { row } = await call('open/known')
    // 400 × 2.5 + 600 × 1.25 + 100 × 10
    expect(row.cost?.usd).to.equal('0.00275')
    expect(row.cost?.price).to.match(/^genai-prices \d\S+ openai\/gpt-4o$/)
  })

  it('is 0 for a free model, the sandbox and test keys', async () => {
    upstream.reply(json(REPLY.whole))
    expect((await call('open/free')).row.cost).to.deep.equal({ usd: '0.00', saved_usd: '0.00', price: 'free' })
    expect((await call('sandbox/hello')).row.cost).to.deep.equal({ usd: '0.00', saved_usd: '0.00', price: 'sandbox' })
    expect((await call('open/large', { key: gateway.testKey })).row.cost).to.deep.equal({
      usd: '0.00',
      saved_usd: '0.00',
      price: 'sandbox',
    })
  })

  it('is unknown, not 0, for a model without a price', async () => {
    upstream.reply(json(REPLY.whole))
    const { header, row } = await call('open/unknown')
    expect({ header, cost: row.cost }).to.deep.equal({ header: null, cost: null })
    expect(row.tokens?.input).to.equal(1000)
    expect(await gateway.logged(({ id }) => id === row.id)).to.not.have.property('costUsd')
    expect(await gateway.metric('umg_unpriced_calls_total', { namespace: 'open', model: 'unknown' })).to.equal(1)
  })

  it('is that of the price when the call began; a new price does not change it', async () => {
    upstream.reply(json(REPLY.whole))
    const { row } = await call('open/large')
    await writeFile(
      join(gateway.folder, 'routes.yaml'),
      stringify({ version: 1, ...routes({ 'open/large*': { input: 1, output: 1 } }) }),
    )
    expect((await gateway.reload()).ok).to.equal(true)
    upstream.reply(json(REPLY.whole))
    expect((await call('open/large')).row.cost).to.deep.equal({
      usd: '0.0011',
      saved_usd: '0.00',
      price: 'routes.yaml input=1 output=1',
    })
    expect(((await api.get(`/requests/${row.id}`)).json as CallView).cost).to.deep.equal(COST)
  })

  it('is null for a call that no upstream took', async () => {
    upstream.reply(json({}, { status: 400 }))
    const { row } = await call('open/large')
    expect({ tokens: row.tokens, cost: row.cost }).to.deep.equal({ tokens: null, cost: null })
  })
})
