import { expect } from 'chai'
import { event, FIN, hold, json, type Script, type ScriptedUpstream, scriptedUpstream, sse } from '../../../core/testing/kit.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { completion } from '../plugins/openai-wire.ts'

/** What the first attempt of each call has used before it fails. */
const USED = { prompt_tokens: 100, completion_tokens: 400, total_tokens: 500 }

const FAILURE = { error: { message: 'The server is overloaded.', code: 503 } }

/** Before a further attempt, the limits of the caller must pay for it and for those that have failed. */
describe('an attempt that failed after it had used tokens', () => {
  let upstream: ScriptedUpstream
  let gateway: TestGateway
  let failing: () => Script

  beforeEach(async () => {
    upstream = await scriptedUpstream()
    failing = () => json({ ...completion('half'), usage: USED, ...FAILURE })
    upstream.on(({ path }) =>
      path.startsWith('/first')
        ? failing()
        : json({ ...completion('served'), usage: { ...USED, completion_tokens: 1, total_tokens: 101 } }),
    )
  })

  afterEach(async () => {
    await gateway?.stop()
    await upstream?.close()
  })

  async function start(classes: object, limits?: object): Promise<void> {
    const provider = (path: string) => ({
      provider: 'openai-compatible',
      breaker: false,
      config: { baseUrl: `${upstream.origin}${path}/v1` },
    })
    gateway = await startTestGateway({
      routes: {
        chain: [{ plugin: 'auth' }, { plugin: 'rate-tagging', config: { classes: { own: classes }, default: 'own' } }],
        namespaces: {
          first: provider('/first'),
          second: { ...provider('/second'), ...(limits && { limits }) },
          acme: { models: { m: { targets: [{ model: 'first/m' }], fallbacks: ['second/m'] } } },
        },
        prices: { models: { 'first/m': { input: 0, output: 1000 }, 'second/m': { input: 0, output: 1000 } } },
      },
    })
  }

  const ask = (members: object = {}, { key, signal }: { key?: string; signal?: AbortSignal } = {}): Promise<Response> =>
    gateway.fetch('/v1/chat/completions', {
      json: { model: 'acme/m', messages: [{ role: 'user', content: 'hi' }], max_tokens: 400, ...members },
      ...(key !== undefined && { key }),
      ...(signal && { signal }),
    })

  const attempts = (): string[] => upstream.requests.map(({ path }) => path.split('/')[1]!)

  for (const [scope, limits] of [
    ['key', (tokens: string) => ({ tokens })],
    ['account', (tokens: string) => ({ account: { tokens } })],
  ] as const) {
    it(`ends the call with the refusal of the limit of its ${scope}, if that has no room for another attempt`, async () => {
      await start(limits('900/day'))
      const reply = await ask()
      expect(reply.status).to.equal(429)
      expect(await reply.json()).to.have.nested.property('error.type', 'tokens')
      expect(attempts()).to.deep.equal(['first'])
      // It is charged what was used, and not what was reserved.
      failing = () => json({}, { status: 500 })
      expect((await ask({ max_tokens: 300 })).status).to.equal(200)
    })

    it(`is followed by another one if the limit of its ${scope} has room for both, which it is charged`, async () => {
      await start(limits('1000/day'))
      expect((await ask()).status).to.equal(200)
      expect(attempts()).to.deep.equal(['first', 'second'])
      // 601 of 1000 are used.
      const next = await ask({ max_tokens: 390 })
      expect([next.status, next.headers.get('x-ratelimit-remaining-tokens')]).to.deep.equal([429, '399'])
    })
  }

  for (const [what, script] of [
    ['an error', () => json({}, { status: 500 })],
    ['a refusal', () => json(FAILURE, { status: 429 })],
    ['nothing', (): Script => [FIN]],
  ] as const) {
    it(`needs no room if it was answered by ${what} and has used nothing`, async () => {
      await start({ tokens: '450/day' })
      failing = script
      const reply = await ask()
      expect([reply.status, attempts()]).to.deep.equal([200, ['first', 'second']])
    })
  }

  it('of a stream ends it with the refusal, before any event', async () => {
    await start({ tokens: '900/day' })
    failing = () => sse([event({ ...completion(''), object: 'chat.completion.chunk', choices: [], usage: USED }), event(FAILURE)])
    const reply = await ask({ stream: true })
    expect(reply.status).to.equal(429)
    expect(attempts()).to.deep.equal(['first'])
  })

  it('takes of the limit of a namespace by itself: another attempt needs the room of one', async () => {
    await start({ tokens: '10k/day' }, { tokens: '450/day' })
    expect((await ask()).status).to.equal(200)
    expect((await ask()).status).to.equal(503)
  })

  it('ends the call with the refusal of a budget, which says what was spent', async () => {
    await start({})
    const key = await gateway.key({ budgets: ['0.70 USD/day'] })
    const reply = await ask({}, { key })
    expect([reply.status, reply.headers.get('x-should-retry')]).to.deep.equal([429, 'false'])
    const { error } = (await reply.json()) as { error: { code: string; message: string } }
    expect(error.code).to.equal('insufficient_quota')
    expect(error.message).to.match(
      /0\.30 USD is left, and after an attempt that failed and cost 0\.40 USD, another one for this call to `acme\/m` may need 0\.40 USD\./,
    )
    expect(attempts()).to.deep.equal(['first'])
    expect((await ask({ max_tokens: 300, model: 'second/m' }, { key })).status).to.equal(200)
  })

  it('of a budget gives back what another attempt would have needed, when the client leaves', async () => {
    await start({})
    const key = await gateway.key({ budgets: ['0.80 USD/day'] })
    const held = hold()
    const client = new AbortController()
    upstream.on(({ path }) => (path.startsWith('/first') ? failing() : [held, ...json(completion('late'))]))
    const left = ask({}, { key, signal: client.signal }).catch(() => undefined)
    await held.reached
    expect((await ask({ model: 'second/m', max_tokens: 1 }, { key })).status).to.equal(429)
    client.abort()
    await left
    await gateway.logged(({ outcome }) => outcome === 'client_closed')
    held.release()
    expect((await ask({ model: 'second/m', max_tokens: 100 }, { key })).status).to.equal(200)
  })
})
