// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${…} is the syntax of routes.yaml
import { expect } from 'chai'
import { json, type ScriptedUpstream, scriptedUpstream } from '../../../core/testing/kit.ts'
import { digestOf } from '../../../core/text/ids.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'

const SECRET = 'sk-live-irZTVfCwhKeI4iywS5HQG4whmyW55h0ds29Q'
/** The secret of a key that has a budget. */
const THRIFTY = 'sk-live-rJThEf8eVDS7OIe4fPQSH5wbTV5CzV0OeAYc'
const COMPLETION = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi', refusal: null }, finish_reason: 'stop', logprobs: null }],
}

describe('the explanation of a call', () => {
  let gateway: TestGateway
  let first: ScriptedUpstream
  let second: ScriptedUpstream

  before(async () => {
    first = await scriptedUpstream()
    second = await scriptedUpstream()
    first.on(() => json({ error: { message: 'no' } }, { status: 503 }))
    second.on(() =>
      json({
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model: 'm',
        content: [{ type: 'text', text: 'Hi' }],
        stop_reason: 'end_turn',
        usage: { input_tokens: 1, output_tokens: 1 },
      }),
    )
    gateway = await startTestGateway({
      env: { KEY: 'k' },
      routes: {
        chain: [{ plugin: 'auth' }, { plugin: 'explain', config: { keys: ['routes:ops', 'routes:thrifty'] } }],
        namespaces: {
          one: { provider: 'openai-compatible', breaker: false, config: { baseUrl: `${first.origin}/v1` } },
          two: { provider: 'anthropic', config: { baseUrl: second.origin, apiKey: '${env:KEY}' } },
          acme: {
            models: {
              smart: { targets: [{ model: 'one/a' }], fallbacks: ['two/claude-sonnet-4-5'] },
              limited: { targets: [{ model: 'one/b' }], fallbacks: ['two/claude-sonnet-4-5'] },
            },
          },
        },
        aliases: { fast: 'acme/smart' },
        prices: { models: { 'two/*': { input: 1, output: 1 } } },
        keys: [
          { name: 'ops', kind: 'live', hash: `sha256:${digestOf(SECRET)}`, models: ['*'] },
          { name: 'thrifty', kind: 'live', hash: `sha256:${digestOf(THRIFTY)}`, models: ['*'], budget: '1 USD/day' },
        ],
      },
    })
  })

  after(async () => {
    await gateway?.stop()
    await Promise.all([first?.close(), second?.close()])
  })

  const call = (options: { key?: string; body?: object; headers?: Record<string, string> }): Promise<Response> =>
    gateway.fetch('/v1/chat/completions', {
      method: 'POST',
      key: options.key ?? SECRET,
      headers: { 'x-umg-explain': '1', ...options.headers },
      json: { model: 'fast', messages: [{ role: 'user', content: 'Hi' }], ...options.body },
    })

  const explanationOf = (reply: Response): Record<string, string | null> =>
    Object.fromEntries(
      ['route', 'skipped', 'attempt-results', 'parameters'].map((name) => [name, reply.headers.get(`x-umg-${name}`)]),
    )

  it('has its route, each attempt with target, result and time, and the support of each parameter', async () => {
    const reply = await call({ body: { temperature: 0.5, seed: 7 } })
    expect(reply.status).to.equal(200)
    const { 'attempt-results': results, ...others } = explanationOf(reply)
    expect(results).to.match(/^one\/a upstream_overloaded \d+ms, two\/claude-sonnet-4-5 ok \d+ms$/)
    expect(others).to.deep.equal({
      route: 'acme/smart',
      skipped: null,
      parameters: 'temperature mapped to temperature, seed dropped',
    })
  })

  it('has the targets that were skipped, and why', async () => {
    const reply = await call({ body: { model: 'two/claude-sonnet-4-5', logit_bias: { 1: 1 } } })
    expect(reply.status).to.equal(400)
    expect(explanationOf(reply)).to.deep.equal({
      route: 'two/claude-sonnet-4-5',
      skipped: 'two/claude-sonnet-4-5 unsupported_parameter',
      'attempt-results': null,
      parameters: 'logit_bias refused',
    })
  })

  it('has a target that is passed over because it refused a call before, as the metrics have', async () => {
    const limited = { body: { model: 'acme/limited' } }
    first.reply(json({ error: { message: 'slow down' } }, { status: 429, headers: { 'retry-after': '30' } }))
    expect(explanationOf(await call(limited))).to.include({ skipped: null })
    const target = { namespace: 'one', model: 'b' }
    expect(await gateway.metric('umg_target_cooldown_seconds', target)).to.be.within(1, 30)
    expect(await gateway.metric('umg_circuit_state', { ...target, state: 'closed' })).to.equal(1)
    const after = explanationOf(await call(limited))
    expect(after).to.include({ skipped: 'one/b cooling_down' })
    expect(after['attempt-results']).to.match(/^two\/claude-sonnet-4-5 ok \d+ms$/)
    expect(await gateway.metric('umg_target_cooldown_seconds', { namespace: 'two', model: 'claude-sonnet-4-5' })).to.equal(0)
  })

  it('has the targets without a price, if they are why a budget refuses the call', async () => {
    const reply = await call({ key: THRIFTY })
    expect(await reply.json()).to.have.nested.property('error.code', 'price_unknown')
    expect(explanationOf(reply)).to.deep.equal({
      route: 'acme/smart',
      skipped: 'one/a price_unknown',
      'attempt-results': null,
      parameters: null,
    })
  })

  it('has the route of a call for which a budget has too little left', async () => {
    const reply = await call({ key: THRIFTY, body: { model: 'two/claude-sonnet-4-5', max_tokens: 2_000_000 } })
    expect(reply.status).to.equal(429)
    expect(explanationOf(reply)).to.deep.include({ route: 'two/claude-sonnet-4-5', skipped: null })
  })

  it('says that parameters were passed on verbatim', async () => {
    first.reply(json(COMPLETION))
    const reply = await call({ body: { model: 'one/a', seed: 1 } })
    expect(explanationOf(reply)).to.include({ route: 'one/a', parameters: 'verbatim' })
  })

  it('is absent if the key may not see it, or the call does not request it', async () => {
    const nothing = { route: null, skipped: null, 'attempt-results': null, parameters: null }
    expect(explanationOf(await call({ key: gateway.liveKey }))).to.deep.equal(nothing)
    expect(explanationOf(await call({ headers: { 'x-umg-explain': '0' } }))).to.deep.equal(nothing)
    expect(explanationOf(await call({ key: 'sk-live-wrong' }))).to.deep.equal(nothing)
  })
})
