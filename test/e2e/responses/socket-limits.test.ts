import { expect } from 'chai'
import { revokeKey } from '../../../core/keys/keys.ts'
import { hold, json, openaiReply, type ScriptedUpstream, scriptedUpstream, sse } from '../../../core/testing/kit.ts'
import { startTestGateway, type TestGateway, type TestGatewayOptions } from '../../support/gateway.ts'
import { poll } from '../../support/poll.ts'
import { connect, open, refused } from './socket-client.ts'

const REPLY = openaiReply({ text: 'Hello', usage: { prompt_tokens: 10, completion_tokens: 100, total_tokens: 110 } })
const ASKED = { model: 'up/m', input: 'Hi', store: false }

describe('a turn on a socket', () => {
  let upstream: ScriptedUpstream
  let gateway: TestGateway | undefined

  beforeEach(async () => {
    upstream = await scriptedUpstream()
    upstream.on(() => sse(REPLY.stream))
  })
  afterEach(async () => {
    await gateway?.stop()
    await upstream?.close()
  })

  async function start(routes: object = {}, options: Partial<TestGatewayOptions> = {}): Promise<TestGateway> {
    gateway = await startTestGateway({
      routes: {
        chain: [{ plugin: 'auth' }],
        namespaces: { up: { provider: 'openai-compatible', breaker: false, config: { baseUrl: `${upstream.origin}/v1` } } },
        ...routes,
      },
      ...options,
    })
    return gateway
  }

  it('counts for the limit of its key, and is refused beyond it with the time to wait', async () => {
    const limits = { classes: { standard: { requests: '2/day' } }, default: 'standard' }
    const socket = await connect(await start({ chain: [{ plugin: 'auth' }, { plugin: 'rate-tagging', config: limits }] }))
    // Neither does the handshake count, nor is a turn free that only prepares.
    expect((await socket.turn({ ...ASKED, generate: false })).type).to.equal('response.completed')
    expect((await socket.turn(ASKED)).type).to.equal('response.completed')
    const error = await socket.turn(ASKED)
    expect(error).to.include({ type: 'error', status: 429 })
    expect(error.error).to.include({ code: 'rate_limit_exceeded' })
    expect(error.headers).to.include.keys('retry-after', 'x-ratelimit-limit-requests')
    await socket.close()
  })

  it('is paid by the budget of its key', async () => {
    const prices = { models: { 'up/m': { input: 0, output: 0, request: 0.25 } } }
    await start({ prices })
    const socket = await connect(gateway!, { key: await gateway!.key({ budgets: ['0.5 USD/day'] }) })
    for (let turn = 0; turn < 2; turn++) expect((await socket.turn(ASKED)).type).to.equal('response.completed')
    const error = await socket.turn(ASKED)
    expect(error.error).to.include({ code: 'insufficient_quota' })
    expect((await gateway!.logged(({ costUsd }) => costUsd !== undefined)).costUsd).to.equal(0.25)
    await socket.close()
  })

  it('goes on to its end when its key is revoked; the next one is refused, and the socket is closed', async () => {
    await start()
    const secret = await gateway!.key({ name: 'leaked' })
    const socket = await connect(gateway!, { key: secret })
    const gate = hold()
    upstream.reply(sse([...REPLY.stream.slice(0, 2), gate, ...REPLY.stream.slice(2)]))
    socket.send({ type: 'response.create', ...ASKED })
    await socket.next()
    const { id } = await gateway!.store.db.selectFrom('keys').select('id').where('name', '=', 'leaked').executeTakeFirstOrThrow()
    await revokeKey(gateway!.store, id)
    while ((await gateway!.fetch('/v1/models', { key: secret })).status === 200);
    gate.release()
    expect((await socket.end()).type).to.equal('response.completed')
    const error = await socket.turn(ASKED)
    expect(error).to.include({ type: 'error', status: 401 })
    expect(await socket.closed).to.include({ code: 1008 })
    expect(await gateway!.metric('umg_socket_closes_total', { code: '1008' })).to.equal(1)
    expect(await gateway!.metric('umg_sockets_open')).to.equal(0)
  })

  it('is refused where a link refuses it, and the socket stays open', async () => {
    await start(
      { chain: [{ plugin: 'auth' }, { plugin: './refuse.ts' }] },
      {
        files: {
          'refuse.ts': `import { defineChain, GatewayError, Type } from 'unified-model-gateway/plugin'
export default defineChain({ apiVersion: 1, name: 'refuse', schema: Type.Object({}), create: () => ({
  async handle(ctx, next) {
    if (ctx.state.endpoint === 'models') return next()
    const call = await ctx.state.call()
    if (call.size > 200) throw new GatewayError('request_refused', { values: { detail: 'Too long.' } })
    ctx.set('x-ratelimit-own', '7')
    await next()
  } }) })`,
        },
      },
    )
    const socket = await connect(gateway!)
    expect((await socket.turn({ ...ASKED, input: 'x'.repeat(300) })).error).to.include({ code: 'request_refused' })
    expect((await socket.turn(ASKED)).type).to.equal('response.completed')
    await socket.close()
  })

  it('is too large as a message beyond the limit: an error event, and 1009', async () => {
    await start({}, { admission: { bodies: 400_000 } })
    const socket = await connect(gateway!)
    socket.send({ type: 'response.create', ...ASKED, input: 'x'.repeat(300_000) })
    expect((await socket.next()).error).to.include({ code: 'request_too_large' })
    expect(await socket.closed).to.include({ code: 1009 })
  })

  describe('of many sockets', () => {
    it('leaves places to other accounts: a socket of one that has half of them is refused', async () => {
      await start({}, { admission: { sockets: 4 } })
      const sockets = [await connect(gateway!), await connect(gateway!)]
      const { status, error } = await refused(gateway!)
      expect([status, error.code]).to.deep.equal([503, 'gateway_overloaded'])
      expect(await gateway!.metric('umg_shed_total', { reason: 'sockets' })).to.equal(1)
      await sockets[0]!.close()
      await (await connect(gateway!)).close()
      await sockets[1]!.close()
    })

    it('gives back the place of a handshake whose client leaves while a link is at work', async () => {
      const SLOW = `import { defineChain, Type } from 'unified-model-gateway/plugin'
  export default defineChain({ kind: 'chain', apiVersion: 1, name: 'slow', schema: Type.Object({}), create: () => ({ async handle(ctx, next) {
    await next()
    if (ctx.get('x-slow')) await fetch('${upstream.origin}/slow')
  } }) })`
      const chain = [{ plugin: 'auth' }, { plugin: './slow.ts' }]
      await start({ chain }, { files: { 'slow.ts': SLOW }, admission: { sockets: 2 } })
      const gate = hold()
      const asked = upstream.reply([gate, ...json({})])
      const left = open(gateway!, { headers: { 'x-slow': 'yes' } }).on('error', () => undefined)
      await asked
      left.terminate()
      gate.release()
      await (await poll(
        () => connect(gateway!).catch(() => undefined),
        (socket) => socket !== undefined,
      ))!.close()
    })

    it('finds no memory of a conversation where it has no room', async () => {
      await start({}, { admission: { conversations: 100_000 } })
      const socket = await connect(gateway!)
      const { response } = await socket.turn({ ...ASKED, input: 'x'.repeat(60_000) })
      const error = await socket.turn({ ...ASKED, previous_response_id: (response as { readonly id: string }).id })
      expect(error.error).to.include({ code: 'previous_response_not_found' })
      await socket.close()
    })
  })
})
